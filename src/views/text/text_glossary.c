/* SPDX-License-Identifier: BSD-3-Clause */
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
    { NULL, "of a rank", "Mean over ranks. All other times are summed over ranks, unless a rank is named." },
    { NULL, "exact", "Measured, or computed from measured times by a rule that always holds." },
    { NULL, "estimate, ~", "Computed by a rule that may fail for single calls, or from a part of the events." },
    { NULL, "sampled",
      "Measured by samples of the thread's CPU clock. n samples have an error of up to 2 sqrt(n) (95 % of cases)." },
    { NULL, "call path", "The functions that lead to a call, innermost first. < or <- stands before the caller." },
    { NULL, "call site", "An MPI function with its call path. #3 is the third one of section Call sites." },
    { NULL, "cov", "Coefficient of variation: standard deviation over mean. 0: all values are equal." },
    { NULL, "share, of all, of time", "A part of the whole. The heading of the section names the whole." },

    { "Findings", "finding",
      "A cause that costs " FV_FINDING_WORTH_WORDS
      " or more, with its place, its rank and the next step. Findings may overlap." },
    { NULL, "seconds of a finding",
      "Time that all ranks together would save without the cause, everything else being equal." },
    { NULL, "preempted", "A rank had no processor outside of MPI, because another thread used it." },
    { NULL, "blocked", "A rank had no processor outside of MPI, because it waited: sleep, I/O, a page or a lock." },
    { NULL, "noisy run",
      "Ranks were runnable but had no processor for 5 % of their time or more. All other times include this." },

    { "Efficiency", "computing", "Time of a rank outside of MPI, whatever it does there." },
    { NULL, "parallel efficiency", "Share of the ranks' time that is computing: load balance times communication." },
    { NULL, "load balance", "Mean over maximum of the ranks' computing time. 100 %: all ranks compute equally long." },
    { NULL, "communication", "Longest computing time of a rank over the longest time of a rank." },
    { NULL, "serialization",
      "The part of communication that dependencies between ranks leave if messages took no time. Needs a trace." },
    { NULL, "transfer", "The part of communication that moving data leaves. Needs a trace." },
    { NULL, "hybrid metrics",
      "Efficiencies of all threads: those of MPI times those of OpenMP. OpenMP's load balance shows waiting in "
      "regions. Its scheduling shows fork and join. Its serialization shows workers without a region." },

    { "Waiting", "waiting",
      "Time in an MPI call before the other side was there. In collective calls: until the last rank entered." },
    { NULL, "late sender, late receiver, late rank", "The rank that came last. The others wait for it." },
    { NULL, "no progress",
      "A rank waited for data that another rank had posted. MPI moved it only in that rank's next call. An estimate." },
    { NULL, "transfer and overhead", "Time in MPI that is not explained as waiting: moving data, and MPI's own work." },
    { NULL, "before MPI_Send", "The rank was late because it was outside of MPI for long before this call." },
    { NULL, "in MPI_Send", "The rank was late because the call itself took long, without waiting." },
    { NULL, "cost", "Waiting of other ranks that is attributed to a rank, a place and a call." },
    { NULL, "short-term, long-term",
      "Parts of the cost: waiting for this rank itself, and waiting for ranks that had waited for it." },
    { NULL, "others waited",
      "Time that other ranks waited for this rank to enter collective calls. It may itself have been delayed." },
    { NULL, "waiting, logged", "Waiting in collective calls whose entry times are known for all ranks." },
    { NULL, "imbalance",
      "Longest minus mean time of a rank, times the number of ranks: time that the other ranks cannot use." },
    { NULL, "critical path",
      "The chain of computing and calls, across ranks, that determines the duration of the run. Needs a trace." },

    { "Functions", "instance",
      "One call of a function that was timed as a whole, from entry to return (fvmpi run --sample)." },
    { NULL, "cov calls",
      "cov of the CPU time of a function's calls within a thread and call path: single calls differ." },
    { NULL, "cov callers, by caller",
      "cov of the means of a function's call paths: callers ask for different work. This does not count as varying." },
    { NULL, "cov threads", "cov of the threads' means: threads or ranks differ." },
    { NULL, "varies, steady",
      "Whether cov calls or cov threads exceeds the limit in the section's heading, over all call paths." },
    { NULL, "too few", "Too few calls were timed to judge the function." },
    { NULL, "window", "Timed calls that were chosen independently of the duration of the previous call." },
    { NULL, "window/all",
      "Mean of the window over the mean of all timed calls. 1: the choice of calls made no difference." },
    { NULL, "too short",
      "Most calls are shorter than the error of timing, so the function is not judged. The report gives the limit." },
    { NULL, "fast", "Calls take about as long as timing them. Their mean may have an error of the same size." },

    { "CPU time", "procedure", "A function in the source, also where the compiler inlined it." },
    { NULL, "self", "CPU time in the procedure itself." },
    { NULL, "total", "CPU time in the procedure and in what it calls. Recursion counts once." },
    { NULL, "in MPI", "Share of the CPU time in MPI calls. Most MPI libraries use the processor while they wait." },
    { NULL, "sync", "CPU time that threads used while they waited for each other." },

    { "Sections", "section", "A part of the program between fvmpi_section_begin() and fvmpi_section_end()." },
    { NULL, "elapsed", "Time from begin to end, of the thread that was longest in the section; mean over ranks." },

    { "Threads", "contended", "How often a thread had to wait for a lock, of all acquisitions." },
    { NULL, "waited", "Time that threads waited for a lock, summed over threads." },
    { NULL, "held", "Time from acquiring a lock to its release, summed over threads (fvmpi run --threads=hold)." },
    { NULL, "used in f()", "A lock without a name, described by the call that used it first." },
    { NULL, "last", "The thread that most often came last to a barrier. The others wait for it." },
    { NULL, "phase", "Threads that run at the same time, from creation to join; or an OpenMP parallel region." },
    { NULL, "off CPU",
      "Time of a phase's threads without a processor and without waiting for each other: few processors, I/O, "
      "sleep." },
    { NULL, "no waits", "How many times as fast the phase would be if no thread waited for another one." },

    { "Comparisons (fvmpi diff)", "A, B", "The run, or runs, before a change and after it." },
    { NULL, "within the noise", "Runs of one side differ from each other as much as the two sides differ." },
    { NULL, "*", "The change is significant: its 95 % confidence interval does not include 0." },
    { NULL, "new, gone", "A finding that only B has, or that only A has." },
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
