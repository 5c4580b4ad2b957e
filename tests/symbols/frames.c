/* Prints the frames of addresses, as a report has them: frames FILE < ADDRESSES. A line a frame, innermost
 * first: address, function, file and line, with tabs between; then what the report would say. */
#include "symbols/elf_file.h"
#include "symbols/symbols.h"

#include <stdio.h>
#include <stdlib.h>

static void print_node(const struct fv_symbols *s, uint32_t node, uint64_t address)
{
    for (uint32_t i = 0; i < s->of_node[node].count; i++) {
        const struct fv_frame *f = &s->frames[s->of_node[node].first + i];

        printf("%#llx\t%s\t%s\t%u\n", (unsigned long long)address, f->function ? f->function : "?",
               f->file ? f->file : "?", f->line);
    }
}

int main(int argc, char **argv)
{
    struct fv_module modules[FV_MODEL_FIRST_MODULE + 1] = { 0 };
    struct fv_module *module = &modules[FV_MODEL_FIRST_MODULE];
    struct fv_node *nodes = NULL;
    size_t count = 0, room = 0;
    struct fv_problems problems = { 0 };
    struct fv_symbols symbols;
    struct fv_elf elf;

    if (argc != 2 || fv_elf_open(&elf, argv[1]))
        return 1;
    module->path = module->name = argv[1];
    module->build_id_bytes = elf.build_id_bytes;
    memcpy(module->build_id, elf.build_id, elf.build_id_bytes);
    fv_elf_close(&elf);
    for (unsigned long long address; scanf("%llx", &address) == 1;) {
        FV_GROW(nodes, room, count + 1);
        nodes[count++] = (struct fv_node){ .module = FV_MODEL_FIRST_MODULE, .offset = address + 1 };
    }
    fv_symbols_resolve(&symbols, modules, nodes, count, true, &problems);
    for (uint32_t i = 0; i < count; i++)
        print_node(&symbols, i, nodes[i].offset - 1);
    for (size_t i = 0; i < problems.count; i++)
        printf("note\t%s\n", problems.items[i].text);
    fv_symbols_release(&symbols);
    fv_problems_release(&problems);
    free(nodes);
    return 0;
}
