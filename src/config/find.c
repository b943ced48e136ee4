#include "src/config/resource.h"

const struct pipeline *resources_pipeline(const struct resources *r, const char *name)
{
	for (size_t i = 0; i < r->n_pipelines; i++)
		if (strcmp(r->pipelines[i].name, name) == 0)
			return &r->pipelines[i];
	return NULL;
}

const struct worktree_pool_spec *resources_pool(const struct resources *r, const char *name)
{
	for (size_t i = 0; i < r->n_pools; i++)
		if (strcmp(r->pools[i].name, name) == 0)
			return &r->pools[i];
	return NULL;
}

const struct subscription_plan *resources_plan(const struct resources *r, const char *name)
{
	for (size_t i = 0; i < r->n_plans; i++)
		if (strcmp(r->plans[i].name, name) == 0)
			return &r->plans[i];
	return NULL;
}

const struct database_pool_spec *resources_database(const struct resources *r, const char *name)
{
	for (size_t i = 0; i < r->n_databases; i++)
		if (strcmp(r->databases[i].name, name) == 0)
			return &r->databases[i];
	return NULL;
}

const struct stage_spec *pipeline_stage(const struct pipeline *p, const char *name)
{
	for (size_t i = 0; i < p->n_stages; i++)
		if (strcmp(p->stages[i].name, name) == 0)
			return &p->stages[i];
	return NULL;
}
