# The two scans of tools/mutate, which documents the columns of a list.
#
#   -v mode=list -v seed=S -v count=N  FILE.c...   prints a list of single mutations
#   -v mode=find  LIST [MAP] FILE.c...             prints where each mutation of LIST is in these files:
#                                                  ID PATH LINE MUTATED-TEXT, or ID - 0 REASON

BEGIN { FS = "\t"; OFS = "\t" }

FNR == 1 { scan_end(); starts_in_comment = 0 }
mode == "find" && FILENAME !~ /\.c$/ { read_mutation(); next }
{
	scan($0)
	usable = !starts_in_comment && !open_comment && !directive
	starts_in_comment = open_comment
	match(bare, /^[ \t]*/)
	shift = RLENGTH + 1
	text = substr(bare, shift)
	sub(/[ \t]+$/, "", text)
	tokens = substr(code, shift, length(text))
	if (text == "" || function_now == "" || !usable) next
	if (mode == "list") list_line()
	else if (same(text) in wanted) note_place(same(text))
}
END { if (mode == "list") print_list(); else print_places() }

function on_function(name, first, last, head) {}
function on_declaration(text) {}
function on_row(text) {}
function on_define(name, text) {}

function same(text) { gsub(/[ \t]+/, " ", text); return text }

# --- list

function list_line(    key) {
	key = FILENAME SUBSEP function_now SUBSEP same(text)
	occurrence = ++seen[key]
	if (tokens ~ /^(case |assert\(|_Static_assert|static const )/) return
	found = 0
	list_statement()
	list_tokens()
	if (found) n_lines++
}

function candidate(kind, from, n, with) {
	if (!found++) {
		line_file[n_lines] = FILENAME
		line_function[n_lines] = function_now
		line_text[n_lines] = text
		line_key[n_lines] = FILENAME SUBSEP function_now SUBSEP same(text)
		line_occurrence[n_lines] = occurrence
	}
	operator[n_lines, found] = kind
	mutated[n_lines, found] = substr(text, 1, from - 1) with substr(text, from + n)
	choices[n_lines] = found
}

# Mutations of a whole statement. Calls that only release memory are kept: no test could notice.
function list_statement(    at) {
	if ((at = index(tokens, "return -1;"))) candidate("return", at, 10, "return 0;")
	if (tokens ~ /^[a-z_][a-z0-9_]*\(.*\);$/ && tokens !~ /^([a-z_]*free|buf_release|arena_release|va_end|va_start|return|if|for|while|switch)\(/ &&
		gsub(/\(/, "(", tokens) == gsub(/\)/, ")", tokens))
		candidate("delete", 1, length(text), "(void)0;")
}

function list_tokens(    s, at, token, before, after, p) {
	s = tokens
	at = 0
	while (match(s, /->|<<=?|>>=?|&&|\|\||==|!=|<=|>=|[<>!]|[A-Za-z_0-9][A-Za-z_0-9.]*/)) {
		token = substr(s, RSTART, RLENGTH)
		p = at + RSTART
		before = substr(tokens, p - 1, 1)
		at = p + RLENGTH - 1
		s = substr(tokens, at + 1)
		if (p == 1) before = " "
		if (token in negated && before == " ") {
			candidate("negate", p, RLENGTH, negated[token])
			if (token in bound) {
				candidate("boundary", p, RLENGTH, bound[token])
				list_bound(at + 2)
			}
		} else if (token == "&&" || token == "||") candidate("logic", p, 2, token == "&&" ? "||" : "&&")
		else if (token == "!") candidate("not", p, 1, "")
		else if (token ~ /^[0-9]+$/ && length(token) < 9 && constant(p, before, s)) {
			candidate("constant", p, length(token), token + 1)
			if (token > 0) candidate("constant", p, length(token), token - 1)
		}
	}
}

# Whether a number is worth a change: not an error code, an empty initializer, or an array's size.
function constant(p, before, after) {
	if (before == "-" || (before == "{" && after ~ /^\}/)) return 0
	return !(before == "[" && tokens ~ /^(static |const |unsigned |char |int |struct |size_t |uint|int[0-9])/)
}

function list_bound(p,    s) {
	s = substr(tokens, p)
	if (!match(s, /^[A-Za-z_][A-Za-z0-9_]*((->|\.)[A-Za-z0-9_]+)*/) || substr(s, RLENGTH + 1) !~ /^(;|\)| &&| \|\|)/) return
	candidate("bound", p + RLENGTH, 0, " + 1")
	candidate("bound", p + RLENGTH, 0, " - 1")
}

BEGIN {
	split("== != != == < >= >= < > <= <= >", word, " ")
	for (i = 1; i < 12; i += 2) negated[word[i]] = word[i + 1]
	split("< <= <= < > >= >= >", word, " ")
	for (i = 1; i < 8; i += 2) bound[word[i]] = word[i + 1]
	state = seed % 2147483646 + 1
	n_lines = 0
}

# Park and Miller's generator: exact in a double, so the same in every awk.
function draw(n) {
	state = (state * 16807) % 2147483647
	return int(state / 2147483647 * n)
}

function print_list(    i, k, left, c) {
	for (i = 0; i < 10; i++) draw(1)
	for (left = n_lines; left > 0 && k < count; left--) {
		i = draw(left)
		c = choose(order(i))
		printf "m%03d\t%s\t%s\t%s\t%d/%d\t%s\t%s\n", ++k, line_file[order(i)], line_function[order(i)], line_text[order(i)],
			line_occurrence[order(i)], seen[line_key[order(i)]], operator[order(i), c], mutated[order(i), c]
		moved[i] = order(left - 1)
	}
}

# The i-th remaining line: the last one takes the place of the one that was chosen.
function order(i) { return i in moved ? moved[i] : i }

# Chooses a kind first, then a mutation of this kind: otherwise most would change a constant.
function choose(line,    i, n, kinds, m, of_kind, kind_of) {
	delete kind_seen
	for (i = 1; i <= choices[line]; i++)
		if (!(operator[line, i] in kind_seen)) {
			kind_seen[operator[line, i]] = 1
			kinds[++n] = operator[line, i]
		}
	m = kinds[draw(n) + 1]
	n = 0
	for (i = 1; i <= choices[line]; i++) if (operator[line, i] == m) of_kind[++n] = i
	return of_kind[draw(n) + 1]
}

# --- find

function read_mutation(    part) {
	if (NF < 7) return
	if (!($1 in mutation_file)) ids[++n_ids] = $1
	mutation_file[$1] = $2
	mutation_function[$1] = $3
	mutation_text[$1] = same($4)
	split($5, part, "/")
	mutation_nth[$1] = part[1]
	mutation_of[$1] = part[2]
	mutation_result[$1] = $7
	wanted[same($4)] = 1
}

function note_place(key,    n) {
	n = ++places[key]
	place_file[key, n] = FILENAME
	place_line[key, n] = FNR
	place_function[key, n] = function_now
}

function base(path) { sub(/.*\//, "", path); return path }

# The place of a mutation among those that satisfy the conditions: the only one, or the Kth if the
# function has as many as it had. 0: none.
function pick(id, same_file, same_base, same_function,    key, i, n, hit) {
	key = mutation_text[id]
	for (i = 1; i <= places[key]; i++) {
		if (same_file && place_file[key, i] != mutation_file[id]) continue
		if (same_base && base(place_file[key, i]) != base(mutation_file[id])) continue
		if (same_function && place_function[key, i] != mutation_function[id]) continue
		n++
		if (n == 1 || n == mutation_nth[id]) hit = i
	}
	return n == 1 || (same_function && n == mutation_of[id]) ? hit : 0
}

function print_places(    i, id, key, at) {
	for (i = 1; i <= n_ids; i++) {
		id = ids[i]
		key = mutation_text[id]
		at = pick(id, 1, 1, 1)
		if (!at) at = pick(id, 0, 1, 1)
		if (!at) at = pick(id, 0, 1, 0)
		if (!at) at = pick(id, 0, 0, 1)
		if (!at) at = pick(id, 0, 0, 0)
		if (at) print id, place_file[key, at], place_line[key, at], mutation_result[id]
		else print id, "-", 0, places[key] ? "not found: " places[key] " places have this text" : "not found"
	}
}
