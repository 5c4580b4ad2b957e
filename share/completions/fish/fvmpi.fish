# fish completion for fvmpi and fvunify. Commands, options, and what kind of value they take are asked of the programs
# themselves, as bash's does.

# Of each option a line, fields between tabs: letter, name, placeholder or choices of its value, first line of its help.
function __fvmpi_options # PROGRAM [COMMAND]
    $argv --help 2>/dev/null | sed -nE "s/^ {2,6}((-[a-zA-Z]), )?(--[a-z0-9-]+)( ([^ ]+))?( +(.*))?\$/\2\t\3\t\5\t\7/; T; s/'//g; p"
end

# What stands for the value of an option, if the next word is one. --columns has a value or none: none, then.
function __fvmpi_value_of # OPTION LINE...
    set -l value
    for line in $argv[2..-1]
        set -l field (string split \t -- $line)
        contains -- $argv[1] $field[1..2]; or continue
        test -n "$field[3]"; or return
        set value $field[3]
    end
    printf '%s\n' $value
end

function __fvmpi_offer_value # VALUE CURRENT
    switch $argv[1]
        case DIR
            __fish_complete_directories $argv[2]
        case FILE PATH
            __fish_complete_path $argv[2]
        case WHEN
            printf '%s\n' auto always never
        case '*|*'
            string split '|' -- $argv[1]
    end
end

function __fvmpi_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l asked $words[1]
    set -l command
    if not string match -q 'fvunify*' -- (basename $words[1])
        if test (count $words) -eq 1
            $asked --help 2>/dev/null | sed -nE 's/^  fvmpi ([a-z]+) .*  +(.*)$/\1\t\2/p'
            printf '%s\n' --help --version
            return
        end
        set command $words[2]
        set asked $words[1..2]
    end
    set -l options (__fvmpi_options $asked)
    set -l value # the next word is one
    set -l operands 0
    set -l first (math (count $asked) + 1)
    test $first -le (count $words); and for word in $words[$first..-1]
        if test -n "$value"
            set value
        else if test "$word" = --
            set operands -1 # the next one is the program
        else if string match -q -- '-*' $word
            set value (__fvmpi_value_of $word $options)
        else
            set operands (math $operands + 1)
            test "$command" != run; or break # the rest is the program's business
        end
    end
    if test -n "$value"
        __fvmpi_offer_value $value $current
    else if test $operands -lt 0; or test "$command" = run -a $operands -eq 0 -a (string sub -l 1 -- "$current ") != -
        complete -C "$current"
    else if test "$command" = run -a $operands -gt 0
        __fish_complete_path $current
    else if string match -q -- '-*' $current
        for line in $options
            set -l field (string split \t -- $line)
            printf '%s\t%s\n' $field[2] "$field[4]"
            test -z "$field[1]"; or printf '%s\t%s\n' $field[1] "$field[4]"
        end
    else
        __fvmpi_offer_operand "$command" $asked[1] $current
    end
end

function __fvmpi_offer_operand # COMMAND PROGRAM CURRENT
    switch $argv[1]
        case doctor
            $argv[2] doctor --all 2>/dev/null | awk '/^  (good|note|unknown|bad) / { print $2 }'
        case check label
            __fish_complete_path $argv[3]
        case '*'
            __fish_complete_directories $argv[3]
    end
end

complete -c fvmpi -f -a '(__fvmpi_complete)'
complete -c fvunify -f -a '(__fvmpi_complete)'
