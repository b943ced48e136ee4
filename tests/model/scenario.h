/*
 * scenario.h: one work item with its agents, its owners and the faults of its surroundings.
 */
#ifndef DT_MODEL_SCENARIO_H
#define DT_MODEL_SCENARIO_H

#include "src/sys/digest.h"
#include "tests/lib/random.h"
#include "tests/model/audit.h"
#include "tests/model/model.h"
#include "tests/model/oracle.h"

enum { MAX_KEPT = 16, MAX_SUBMISSIONS = 48, WORD_MAX = 64, TURNS_TO_END = 300, CANCELLED = 40 };

/* How likely each fault is in this run, in a thousand. Most are 0 in most runs, so that they occur
 * alone as well as together. */
struct fault_rates {
	unsigned disk, power_cut, clock, effect, edit, second, take_over;
	unsigned silent, malformed, late, twice, foreign, bad_word;
};

/* A caller of `step`. */
struct loop {
	const char *owner;     /* NULL: unnamed */
	char last[AUDIT_NAME]; /* first action of the last array; "": none */
};

/* A text that the program reported to be kept. */
struct kept_text {
	char path[512];
	char sum[DIGEST_TEXT];
};

/* An answer of an agent, which may be recorded late or twice. */
struct submission {
	char id[AUDIT_NAME], word[WORD_MAX]; /* word "": no --result */
	const char *owner;
	struct buf text;
	bool valid; /* must be accepted if the action is outstanding */
	bool sent;
	unsigned due; /* turn */
};

struct scenario {
	const struct simulate_plan *plan;
	struct simulate_counts *counts;
	struct buf *trace; /* NULL: none */
	uint64_t seed;
	struct random random;
	struct fault_rates rates;
	bool fault_free; /* no more faults */
	struct simulator *simulator;
	struct audit audit;
	struct oracle oracle;
	char *journal; /* path */
	struct loop loops[2];
	struct submission submissions[MAX_SUBMISSIONS];
	unsigned n_submissions, oldest;
	char running[AUDIT_NAME]; /* the script that still runs */
	unsigned turn, calls, texts;
	unsigned cancel_at; /* turn; 0: nobody cancels the run */
	/* of the last call */
	unsigned fault_at, calls_before;
	enum sim_fault fault;
	bool fired, stopped;
	/* protocol.c: the disk call at which the next call stops */
	unsigned crash_at;
	unsigned crash_power; /* 0: only the process dies; else the seed of what is lost */
	bool crashed;         /* and no power cut followed */
	/* the lease: valid before the first time, over after the second */
	int64_t ttl, valid_until, over_after;
	uint64_t fence;                  /* of that lease */
	bool unreadable;                 /* the document, after an edit by hand */
	struct kept_text kept[MAX_KEPT]; /* texts of refused answers */
	unsigned n_kept;
	struct buf earlier;   /* an earlier document, to be put back by hand */
	struct buf call_text; /* the command line of the last call, for the trace */
};

/* ---- scenario.c ---- */

/* Creates the work item on an empty disk. */
void scenario_begin(struct scenario *p);
void scenario_end(struct scenario *p);
/* Makes the run of a seed; false when a check failed (`fault`). */
bool scenario_run(const struct simulate_plan *plan, uint64_t seed, struct simulate_counts *counts,
	struct buf *trace, char fault[AUDIT_FAULT]);
/* Draws the outcomes of the effects of the next step. */
void scenario_set_outcomes(struct scenario *p);
/* The power fails between two calls. */
void scenario_cut_power(struct scenario *p);

/* ---- scenario_calls.c: one invocation each, with an injected fault, and the checks after it ----
 */

/* 0, or -1 when it failed or its process was stopped. */
int scenario_step(struct scenario *p, const struct loop *loop, const struct simulator_call *how,
	json **actions, struct error *err);
int scenario_record(struct scenario *p, struct submission *f, struct error *err);
int scenario_set(struct scenario *p, const char *key, const char *value, struct error *err);
/* `context restore` of the earlier document. */
int scenario_restore(struct scenario *p, struct error *err);
/* Adds a line to the trace. */
void scenario_note(struct scenario *p, const char *fmt, ...) PRINTF(2, 3);

static inline void count_fault(struct scenario *p, enum simulate_fault kind)
{
	p->counts->faults[kind]++;
}

#endif
