/* The words of the report, in one table: `fvmpi report --glossary`, and share/doc/glossary.md, which ./dev docs writes
 * from it. Columns of tables have their meaning in their relations (--table NAME --columns); here is what several
 * tables and sentences use. */
#include "tool/table.h"
#include "views/text/text.h"

static const struct {
    const char *part; /* of the report; NULL: as the one before */
    const char *word, *meaning;
} words[] = {
    { "Everywhere", "rank", "A process of the MPI program, by its number in MPI_COMM_WORLD." },
    { NULL, "of a rank", "The mean over ranks. Other times are summed over all ranks, unless a rank is named." },
    { NULL, "exact", "Measured, or computed of measured times by a rule that always holds." },
    { NULL, "estimate, ~", "Computed by a rule that need not hold for each call, or of a part of what happened." },
    { NULL, "by samples", "Counted by a clock of the thread's CPU time: n samples may be off by 2 sqrt(n)." },
    { NULL, "call path", "The functions that lead to a call, innermost first; < or <- stands before the caller." },
    { NULL, "call site",
      "An MPI function with the call path that leads to it. #3 is the third of section Call sites." },
    { NULL, "cov", "Coefficient of variation: standard deviation over mean. 0: all are the same." },
    { NULL, "share, of all, of time", "The part of the whole that the section's heading names." },

    { "Findings", "finding",
      "A cause that costs " FV_FINDING_WORTH_WORDS
      " or more, with the place, the rank and what to do next. Findings may overlap." },
    { NULL, "seconds of a finding",
      "Time of all ranks that would be spared if the cause were not there, other things equal." },
    { NULL, "blocked, preempted",
      "Outside of MPI, a rank had no processor: it waited for a sleep, I/O, a page or a lock; or another thread had "
      "it." },
    { NULL, "noisy run",
      "Ranks were runnable but had no processor for 5 % of their time or more. All other times include this." },

    { "Efficiency", "computing", "Time of a rank outside of MPI, whatever it does there." },
    { NULL, "parallel efficiency", "Part of the ranks' time that is computing: load balance times communication." },
    { NULL, "load balance", "Mean over longest computing time of a rank. 100 %: all compute for the same time." },
    { NULL, "communication", "Longest computing time over the longest time of a rank: what MPI leaves of it." },
    { NULL, "serialization",
      "The part of communication that is left if messages took no time: ranks that depend on each other. By a trace." },
    { NULL, "hybrid metrics",
      "Efficiencies of all threads: MPI's times OpenMP's. Of OpenMP's, load balance is lost to waiting in regions, "
      "scheduling to fork and join, "
      "serialization to workers without a region." },
    { NULL, "transfer", "The part of communication that moving data leaves. By a trace." },

    { "Waiting", "waiting",
      "Time in an MPI call before the other side was there. In collective calls: until the last rank entered." },
    { NULL, "late sender, late receiver, late rank", "Who was waited for: the one that came last." },
    { NULL, "no progress",
      "A rank waited for data that another had posted, but MPI moved it only when that rank made its next call. An "
      "estimate." },
    { NULL, "transfer and overhead", "Time in MPI that no rule explains as waiting: moving data, and MPI's own work." },
    { NULL, "before MPI_Send",
      "The rank was late because it was outside of MPI for long, between its call before and this one." },
    { NULL, "in MPI_Send", "The rank was late because the call itself took long, not because it waited there." },
    { NULL, "cost", "Waiting of other ranks that is charged to the rank, place and call." },
    { NULL, "short-term, long-term",
      "Of the cost: waiting for this rank itself, and waiting for ranks that had waited for it." },
    { NULL, "others waited",
      "How long other ranks waited for this one to enter collective calls, whoever had delayed it." },
    { NULL, "waiting, logged", "Waiting in collective calls of which it is known when each rank entered." },
    { NULL, "imbalance",
      "Longest less mean time of a rank, times the number of ranks: time that the others cannot use." },
    { NULL, "critical path",
      "The chain of computing and calls, from rank to rank, that decides how long the run takes. By a trace." },

    { "Functions", "instance",
      "One call of a function that was timed as a whole, from entry to return (fvmpi run --sample)." },
    { NULL, "cov calls",
      "cov of the CPU time of a function's calls in a thread, about the mean of their call path: one call differs from "
      "the next." },
    { NULL, "cov callers, by caller",
      "cov of the means of a function's call paths: its callers ask for different work. That is no variation." },
    { NULL, "cov threads", "cov of the threads' means: one thread, or rank, differs from the others." },
    { NULL, "varies, steady",
      "Whether cov calls or cov threads is beyond the bounds that the section's heading names, over all call paths of "
      "the function." },
    { NULL, "too few", "Too few calls were timed to say whether the function varies." },
    { NULL, "equal chance",
      "Calls that were chosen such that each was equally likely, however long the one before took." },
    { NULL, "of these/all",
      "Mean of the calls of equal chance over the mean of all that were timed. 1: the choice made no difference." },
    { NULL, "too short",
      "Most calls of the function are shorter than the traps that time them can tell, and hardly one is long, so that "
      "it is not judged. The report says how long a call must be." },
    { NULL, "fast", "Calls are about as short as it takes to time them: their mean may be off by as much." },

    { "CPU time", "procedure", "A function as the source has it, also where the compiler inlined it." },
    { NULL, "self, total", "CPU time in the procedure itself; and with what it calls, where recursion counts once." },
    { NULL, "in MPI", "Part of the CPU time in MPI calls: most MPI libraries use the processor while they wait." },
    { NULL, "sync", "CPU time that threads used while they waited for each other." },

    { "Sections", "section", "A part of the program that it marks by fvmpi_section_begin() and fvmpi_section_end()." },
    { NULL, "elapsed", "Time from begin to end, of the thread that was in it longest; mean over the ranks." },

    { "Threads", "contended", "Times that a thread had to wait for the lock, of all that it was acquired." },
    { NULL, "waited", "Time that threads waited for it, summed over threads." },
    { NULL, "held", "Time from taking the lock to its release, summed (fvmpi run --threads=hold)." },
    { NULL, "used in f()", "A lock without a name of its own, by the call that used it first." },
    { NULL, "last", "The thread that came last to a barrier most often: the others wait for it." },
    { NULL, "phase", "Threads that run side by side, from creation to join; or a parallel region of OpenMP." },
    { NULL, "off CPU",
      "Time of a phase's threads without a processor, not waiting for each other: few processors, I/O, sleep." },
    { NULL, "no waits", "How many times as fast the phase would be if no thread waited for another." },

    { "Comparisons (fvmpi diff)", "A, B", "The run, or runs, before a change and after it." },
    { NULL, "within the noise", "The runs of a side differ among themselves by as much as the change." },
    { NULL, "*", "The change is more than noise: its 95 % interval leaves out 0." },
    { NULL, "new, gone", "Of findings: only B has it, only A has it." },
};

int fv_view_glossary(const struct fv_text_options *o, FILE *out)
{
    const struct fv_page page = fv_text_page(o, out);

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (words[i].part)
            fprintf(out, "%s%s%s%s\n", i ? "\n" : "", fv_page_on(&page, FV_BOLD), words[i].part, fv_page_off(&page));
        fv_page_item(&page, FV_PLAIN, 2, "%s: %s", words[i].word, words[i].meaning);
    }
    return fflush(out) || ferror(out) ? -FV_EIO : 0;
}
