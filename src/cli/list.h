/* The verbs, in the order of --help. See cli.h. */
X(step)
X(record)
X(brief)
X(context)
X(events)
