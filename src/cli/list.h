/* The verbs, in the order of --help. See cli.h. */
X(step)
X(record)
X(brief)
X(exec)
X(run)
X(context)
X(events)
X(doctor)
