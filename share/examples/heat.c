/* The example of the tutorial (share/doc/tutorial.md): heat spreads on a plate, part of which burns. Ranks have rows of it, and exchange those at their borders.
 *
 *     mpicc -g -O2 heat.c -o heat -lm && mpiexec -n 2 ./heat
 *
 * It has three problems, which -DSTEP=1, 2 and 3 mend one by one. It prints the heat of the plate, which is the same in all of them. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef STEP
#define STEP 0
#endif
#define ROWS   96
#define WIDTH  4096
#define FIRE   (ROWS / 4) /* the last rows burn, ... */
#define STAGES 4          /* in so many stages */
#define ROUNDS 160
#define SAVE   4 /* rounds between pictures of the plate */
#define WORD   6 /* bytes of a cell in a picture */

static double *plate, *next;
static int rank, size, first, rows; /* the rows of this rank; plate[0] and plate[rows + 1] are its neighbours' */

static double *at(double *of, int row)
{
    return of + (size_t)row * WIDTH;
}

#if STEP > 0
/* What row i of the plate takes to compute, roughly. */
static double cost(int i)
{
    return i < ROWS - FIRE ? 1 : 17;
}
#endif

/* The first row of a rank. */
static int begin_of(int of)
{
#if STEP < 1
    return ROWS * of / size; /* problem 1: as many rows for each, though some burn */
#else
    double all = 0, before = 0;
    int i;

    for (i = 0; i < ROWS; i++)
        all += cost(i);
    for (i = 0; i < ROWS && before + 0.5 * cost(i) < all * of / size; i++)
        before += cost(i);
    return i;
#endif
}

static void exchange_with(int other, double *sent, double *received)
{
#if STEP < 2
    for (int i = 0; i < WIDTH; i++) /* problem 2: a message for each cell */
        MPI_Sendrecv(&sent[i], 1, MPI_DOUBLE, other, 0, &received[i], 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
    MPI_Sendrecv(sent, WIDTH, MPI_DOUBLE, other, 0, received, WIDTH, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
}

static void exchange(void)
{
    if (rank > 0)
        exchange_with(rank - 1, at(plate, 1), at(plate, 0));
    if (rank < size - 1)
        exchange_with(rank + 1, at(plate, rows), at(plate, rows + 1));
}

static void diffuse(void)
{
    for (int i = 1; i <= rows; i++)
        for (int j = 1; j < WIDTH - 1; j++)
            at(next, i)[j] = at(plate, i)[j] + 0.2 * (at(plate, i - 1)[j] + at(plate, i + 1)[j] + at(plate, i)[j - 1] + at(plate, i)[j + 1] - 4 * at(plate, i)[j]);
}

static void react(void)
{
    for (int i = 1; i <= rows; i++)
        if (first + i - 1 >= ROWS - FIRE)
            for (int j = 1; j < WIDTH - 1; j++)
                for (int stage = 0; stage < STAGES; stage++) {
                    double heat = fabs(at(next, i)[j]);

                    at(next, i)[j] += 2e-4 * exp(-1 / (1 + heat)) * pow(1 + heat, 0.3) * (1 + sin(heat));
                }
}

/* Cells as words of a picture: whole numbers, brighter where it is dark. */
static void draw(const double *cells, int count, char *text)
{
    for (int i = 0; i < count; i++, text += WORD) {
        int value = (int)(99999 * fmin(pow(0.01 * fabs(cells[i]), 0.45), 1));

        for (int digit = WORD - 2; digit >= 0; digit--, value /= 10)
            text[digit] = (char)('0' + value % 10);
        text[WORD - 1] = i % WIDTH == WIDTH - 1 ? '\n' : ' ';
    }
}

/* A picture of the plate. */
static void save(void)
{
    static const char name[] = "plate.pgm";
    char head[32];
    int bytes = snprintf(head, sizeof(head), "P2\n%d %d\n99999\n", WIDTH, ROWS);
#if STEP < 3
    double *all = rank ? NULL : malloc(sizeof(*all) * ROWS * WIDTH); /* problem 3: rank 0 draws all of it */
    char *text = rank ? NULL : malloc((size_t)ROWS * WIDTH * WORD);
    int counts[size], places[size];

    for (int i = 0; i < size; i++) {
        places[i] = begin_of(i) * WIDTH;
        counts[i] = (begin_of(i + 1) - begin_of(i)) * WIDTH;
    }
    MPI_Gatherv(at(plate, 1), rows * WIDTH, MPI_DOUBLE, all, counts, places, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (!rank) {
        FILE *out = fopen(name, "w");

        draw(all, ROWS * WIDTH, text);
        if (!out || fwrite(head, 1, (size_t)bytes, out) != (size_t)bytes || fwrite(text, WORD, ROWS * WIDTH, out) != ROWS * WIDTH || fclose(out))
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    free(all);
#else
    char *text = malloc((size_t)rows * WIDTH * WORD);
    MPI_File out;

    draw(at(plate, 1), rows * WIDTH, text);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &out);
    if (!rank)
        MPI_File_write_at(out, 0, head, bytes, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_write_at_all(out, bytes + (MPI_Offset)first * WIDTH * WORD, text, rows * WIDTH * WORD, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&out);
#endif
    free(text);
}

static double heat(void)
{
    double mine = 0, all;

    for (int i = 1; i <= rows; i++)
        for (int j = 0; j < WIDTH; j++)
            mine += at(plate, i)[j];
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    first = begin_of(rank);
    rows = begin_of(rank + 1) - first;
    plate = calloc((size_t)(rows + 2) * WIDTH, sizeof(*plate));
    next = calloc((size_t)(rows + 2) * WIDTH, sizeof(*next));
    for (int i = 1; i <= rows; i++)
        at(plate, i)[WIDTH / 2] = 100;
    for (int round = 0; round < ROUNDS; round++) {
        exchange();
        diffuse();
        react();
        double *old = plate;

        plate = next;
        next = old;
        if (round % SAVE == SAVE - 1)
            save();
    }
    double all = heat();
    if (!rank)
        printf("heat %.3f\n", all);
    MPI_Finalize();
    return 0;
}
