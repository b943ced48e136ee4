/*
 * dot.h: diagrams in DOT, the language of Graphviz, and as SVG, which its program `dot` makes.
 */
#ifndef DT_DOT_H
#define DT_DOT_H

#include "src/base/buf.h"

/* The first lines within `digraph NAME { ... }`: fonts and shapes. */
#define DOT_HEAD                                                                                   \
	"  graph [bgcolor=white, pad=0.3, labelloc=t]\n"                                           \
	"  graph [fontname=\"Helvetica,Arial,sans-serif\"]\n"                                      \
	"  node [fontname=\"Helvetica,Arial,sans-serif\", shape=box, style=\"rounded,filled\"]\n"  \
	"  edge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=12, color=\"#57606a\"]\n"

/* As text of a label in HTML, in which Graphviz still expands `\N`: at most 48 characters.
 * Characters that XML cannot hold become spaces. */
void dot_add_text(struct buf *out, struct str s);

/* Adds the SVG. `instead`: what the user can write where there is no Graphviz, such as
 * "--format dot". -1: ERR_SYSTEM, nothing is added. */
int dot_draw_svg(struct str dot, const char *instead, struct buf *out, struct error *err);

#endif
