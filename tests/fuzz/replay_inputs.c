/* Gives a fuzzer's inputs to it, one file after the other, without libFuzzer, which only clang has:
 *
 *     replay_NAME FILE...      names each input that it begins, so that the last one named is the one that
 * crashed */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 1 << 20, SECONDS_EACH = 20 };

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        uint8_t *room = malloc(MOST_BYTES);
        FILE *in = fopen(argv[i], "rb");
        size_t size;

        if (!room || !in) {
            perror(argv[i]);
            return 1;
        }
        size = fread(room, 1, MOST_BYTES, in);
        fclose(in);
        uint8_t *data = realloc(room, size ? size : 1); /* no more than there is: a look behind it is seen */
        printf("%s\n", argv[i]);
        fflush(stdout);
        alarm(SECONDS_EACH);
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    return 0;
}
