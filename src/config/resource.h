/*
 * resource.h: Pipeline, WorktreePool, SubscriptionPlan and DatabaseBranchPool: documents of the
 * form apiVersion, kind, metadata, spec, and how many issues a pipeline works on at the same time.
 * docs/resources.md.
 *
 * Ownership: everything lives in the arena that was passed in. Defaults are filled in.
 */
#ifndef DT_RESOURCE_H
#define DT_RESOURCE_H

#include "src/base/json.h"
#include "src/base/yaml.h"

enum { CONCURRENT_MAX = 20 };

struct text_list { /* a list of texts */
	const char *const *list;
	size_t n;
};

enum isolation { ISOLATION_WORKTREE, ISOLATION_INPLACE };
enum schedule { SCHEDULE_NOW, SCHEDULE_OFF_PEAK, SCHEDULE_QUOTA_PERMITTING, SCHEDULE_DEFER_LOW };
enum database_access { DATABASE_NONE, DATABASE_READ, DATABASE_WRITE, DATABASE_MIGRATE };
enum failure_strategy { FAILURE_ABORT, FAILURE_RETRY, FAILURE_PAUSE, FAILURE_CONTINUE };
enum billing { BILLING_WINDOW, BILLING_MONTHLY, BILLING_PER_TOKEN };

struct stage_spec {
	const char *name, *agent;
	unsigned line, col;
	enum isolation isolation;
	bool isolation_declared; /* else as `parallelism` says */
	bool holds_gate;
	const char *model;         /* as written; NULL: inherit */
	double max_budget_usd;     /* 0: none */
	const char *harness;       /* resolved: never `inherit` */
	struct text_list fallback; /* resolved */
	bool fallback_declared;
	struct text_list independent_of; /* requiresIndependentHarnessFrom */
	struct text_list needs;          /* `requires`: capabilities */
	enum schedule schedule;
	int64_t estimate_in, estimate_out; /* tokens; 0, 0: not declared */
	bool estimate_frozen;
	enum database_access database;
	bool failure_declared;
	enum failure_strategy on_failure;
	unsigned max_retries;
	int64_t retry_delay_s;
	const char *failure_on; /* `on:`; NULL: any */
	int64_t timeout_s;      /* 0: 1800 */
	const char *artifact;   /* name of the artifact schema; NULL: none */
};

struct pipeline {
	const char *name, *file;
	bool parallel;           /* there is a `parallelism` */
	unsigned max_concurrent; /* as declared; 0: not */
	const char *worktree_pool;
	const char *target_branch;  /* branching.targetBranch; "main" */
	const char *branch_pattern; /* branching.pattern; NULL: none */
	const char *default_model;  /* "sonnet" */
	bool default_model_declared;
	const char *default_harness; /* "claude-code" */
	struct text_list default_fallback;
	struct text_list plans; /* subscriptionPlans */
	const char *tenant, *account;
	double tenant_share;                         /* -1: not declared */
	double cost_budget_usd, cost_budget_day_usd; /* 0: none */
	int64_t off_peak_max_wait_s;
	const char *artifact_version; /* "v1" */
	struct stage_spec *stages;
	size_t n_stages;
};

struct database_pool_spec;

/* What a new worktree gets besides its files. Paths are relative to the repository. */
struct worktree_setup {
	struct text_list copy, link, commands;
	int64_t timeout_s; /* of each command */
};

struct worktree_pool_spec {
	const char *name, *file;
	const char *root; /* ~ expanded; NULL: as repo_local says */
	bool repo_local, strict;
	unsigned stale_days, base_port;
	bool on_merge, on_abort, on_timeout;
	struct worktree_setup setup;
	struct text_list database_pools, plans;
	const struct database_pool_spec **databases; /* of those names */
	size_t n_databases;
};

struct off_peak_window {
	const char *tz, *hours, *days; /* days NULL: all */
};

/* Where the used quota is known from: the ledger, a command of the user, or that and else the
 * ledger. */
enum quota_source { QUOTA_SELF_TRACKED, QUOTA_AUTHORITATIVE, QUOTA_WITH_FALLBACK };

struct subscription_plan {
	const char *name, *file, *harness;
	enum billing billing;
	int64_t window_s, quota_tokens; /* 0: none */
	bool off_peak;
	double multiplier;
	struct off_peak_window *windows;
	size_t n_windows;
	const char *verified; /* date; NULL: missing */
	double pacing, hard_cap;
	enum quota_source source;
};

struct database_pool_spec {
	const char *name, *file, *adapter, *connection_env, *branch_from, *target_env;
	struct text_list additional_envs;
	const char *create_on, *reclaim_on;
	unsigned max_concurrent, warm; /* max_concurrent 0: not declared */
	unsigned max_branches;         /* as declared, else that of the pipelines */
	int64_t ttl_s, abandon_s;      /* ttl 0: none */
	bool from_branch;
	bool migrations, on_create;
	const char *migration_command, *migration_cwd;
	const struct yaml *credentials; /* map; NULL: none */
};

/* A document as it was read; `of` is the struct of its kind. */
struct resource_doc {
	const struct resource_kind *kind;
	const char *name, *file; /* name "" where it has none; file NULL: built in */
	const struct yaml *tree;
	void *of;
};

struct resources {
	size_t n_pipelines, n_pools, n_plans, n_databases;
	struct resource_doc *docs; /* all of them, in the order of files */
	size_t n_docs, n_files;
	size_t n_other;       /* documents of a kind that other programs read, which are left out */
	struct error *faults; /* every one, in the order of files and lines */
	size_t n_faults;
};

/* Reads each *.yaml and *.yml of the directory `dir` (sorted; not below it), or the one file `dir`.
 * After a fault the rest is still checked. 0 also with faults: the lists are then only for display.
 * -1: ERR_SYSTEM, ERR_USAGE (no such directory). */
int resources_load(struct arena *a, const char *dir, struct resources *out, struct error *err);
/* The same; -1 also with faults: the first one and how many there are. */
int resources_need(struct arena *a, const char *dir, struct resources *out, struct error *err);
/* -1 with the first fault of loaded resources and their number; 0: there is none. */
int resources_fault(const struct resources *r, struct error *err);
/* Adds a fault that another room has found, in its place, unless there is one at the same place. */
void resources_refuse(struct arena *a, struct resources *r, const struct error *fault);
/* One document in memory, as the file `file`. -1: its first fault; *out has all of them. */
int resources_parse(struct arena *a, const char *file, struct str text, struct resources *out,
	struct error *err);

/* What a repository without a WorktreePool has: one of no file, with its worktrees in it. */
void resources_default(struct arena *a, struct resources *out);

/* NULL: there is none of that name. `name` NULL: the first one. */
const struct pipeline *resources_pipeline(const struct resources *r, const char *name);
const struct worktree_pool_spec *resources_pool(const struct resources *r, const char *name);
const struct subscription_plan *resources_plan(const struct resources *r, const char *name);
const struct database_pool_spec *resources_database(const struct resources *r, const char *name);
/* A value of `credentials`; NULL: there is none. */
const char *database_credential(const struct database_pool_spec *d, const char *key);
const struct stage_spec *pipeline_stage(const struct pipeline *p, const char *name);

/* The pool of a repository without a pool: its worktrees are in it, all else as by default. */
struct worktree_pool_spec resource_default_pool(struct arena *a);

/* Whether pipelines may work on several issues, from the environment: blanks and case do not
 * matter; off, disabled, false and 0 are off; `experimental`; anything else is on. */
#define PARALLELISM_VARIABLE "AI_SDLC_PARALLELISM"
enum parallelism_mode { PARALLELISM_OFF, PARALLELISM_EXPERIMENTAL, PARALLELISM_ON };
enum parallelism_mode parallelism_mode(void);

enum parallelism_source {
	PARALLELISM_SERIAL,   /* the pipeline has no `parallelism` */
	PARALLELISM_DECLARED, /* maxConcurrent */
	PARALLELISM_PLANS,
	PARALLELISM_NO_PLAN,  /* none for a harness of its stages */
	PARALLELISM_DISABLED, /* AI_SDLC_PARALLELISM is off */
};

struct harness_share {
	const char *harness;
	unsigned value;
};

struct parallelism {
	unsigned max; /* 1..CONCURRENT_MAX */
	enum parallelism_source source;
	unsigned before;        /* before it was limited to that range */
	struct text_list plans; /* the plans that count; two seats are two */
	struct harness_share *shares;
	size_t n_shares;
};

/* "serial", "declared", "plans", "no-plan", "disabled" */
const char *parallelism_word(enum parallelism_source s);

/* Computed once, when the pipeline is loaded. */
void parallelism_resolve(struct arena *a, const struct resources *r, const struct pipeline *p,
	enum parallelism_mode mode, struct parallelism *out);

/* The names of the plans of a pipeline and its pool; a plan that is named twice is two seats. */
struct text_list pipeline_plans(
	struct arena *a, const struct resources *r, const struct pipeline *p);

/* How many issues a plan of that name allows; 1 for an unknown name. */
unsigned subscription_plan_seats(const char *name);

/* ---- the kinds of resources, described ---- */

struct config_field;
struct resource_check;

struct resource_kind {
	const char *name, *about;
	const struct config_field *fields; /* of the whole document */
	size_t size;                       /* of the struct: name, file, ... */
	/* Defaults that depend on other fields; may be NULL. Also of a document with faults, which
	 * may lack what is required. */
	void (*complete)(struct arena *a, const struct yaml *tree, void *of);
	/* What the fields by themselves cannot tell: days that do not exist, references, the
	 * conditions of parallel work. */
	void (*check)(const struct resource_check *c);
	size_t count_at; /* in struct resources */
};

extern const struct resource_kind resource_kind_pipeline, resource_kind_worktree_pool,
	resource_kind_subscription_plan, resource_kind_database_pool;

/* All of them, ended by NULL. */
extern const struct resource_kind *const resource_kinds[];
/* NULL: there is no such kind. */
const struct resource_kind *resource_kind(const char *name);

/* Draft 2020-12, two-space JSON and a line feed. What is checked beyond it: docs/resources.md. */
void resource_schema(const struct resource_kind *kind, struct buf *out);
/* Markdown: a table of its fields. */
void resource_page(const struct resource_kind *kind, struct buf *out);

enum origin { ORIGIN_WRITTEN, ORIGIN_DEFAULT, ORIGIN_DERIVED, ORIGIN_ENVIRONMENT };

/* A field of a resource: `spec.parallelism.maxConcurrent`, `spec.stages[0].harness`. */
struct resource_value {
	const char *path;
	json *value; /* resource_values_release() frees it */
	enum origin origin;
	const char *file; /* WRITTEN */
	unsigned line;
	const char *why; /* DERIVED: of what; ENVIRONMENT: the variable; may be NULL */
	bool inert;      /* it has no effect */
};
struct resource_values {
	struct resource_value *items;
	size_t n, cap;
};
/* Every field that has a value, in the order of the table. */
void resource_list_values(struct arena *a, const struct resources *r,
	const struct resource_doc *doc, enum parallelism_mode mode, struct resource_values *out);
void resource_values_release(struct resource_values *s);

#endif
