# fish completion for fvunify: fvmpi's, which asks the programs.
source (status dirname)/fvmpi.fish
