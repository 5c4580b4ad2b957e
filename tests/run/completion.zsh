# What zsh offers behind command lines: zsh -f completion.zsh FUNCTIONS SCRATCH < LINES. For each line the candidates, one a
# line, and a line "==". An interactive zsh completes them; its compadd prints what it would add.
zmodload zsh/zpty
folder=$1 scratch=$2
cat > $scratch/setup.zsh <<SETUP
PROMPT= RPROMPT=
fpath=($folder \$fpath)
autoload -U compinit
compinit -u -d $scratch/dump
bindkey '^I' complete-word
zstyle ':completion:*' list-prompt ''
LISTMAX=10000
compadd() {
    if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)* ]]; then builtin compadd "\$@"; return; fi
    local -a found
    builtin compadd -A found "\$@"
    (( ! \$#found )) || print -rl -- \$found >> $scratch/found
    builtin compadd "\$@"
}
before() { : > $scratch/found }
after() { compprefuncs=(before) comppostfuncs=(after); compstate[insert]=; compstate[list]=; print done >> $scratch/done }
compprefuncs=(before)
comppostfuncs=(after)
print ready >> $scratch/done
SETUP
# What a shell says first is not a candidate: only the files tell.
wait_for() { # FILE SECONDS
    local i
    for ((i = 0; i < $2 * 100; i++)); do [[ -s $1 ]] && return; sleep 0.01; done
    print -u2 "no answer"; exit 1
}
: > $scratch/done
zpty shell zsh -f -i
zpty -w shell "source $scratch/setup.zsh"
wait_for $scratch/done 20
while IFS= read -r line; do
    : > $scratch/done
    : > $scratch/found
    zpty -w -n shell $'\C-u'"$line"$'\t'
    wait_for $scratch/done 20
    cat $scratch/found
    print '=='
    while zpty -r -t shell output; do :; done
done
zpty -d shell
