# Lists the mutations of C sources for tools/mutate, which documents the columns.
#
#   -v seed=S  FILE.c...
#
# Prints one mutation for each line that has any, before it a number by which the lines are sorted: it depends on the
# seed, the function and the line's text only, so that the choice stays when other lines change or move.

BEGIN {
	for (i = 1; i < 256; i++) ord[sprintf("%c", i)] = i
	split("== != != == < <= <= < > >= >= >", word, " ")
	for (i = 1; i < 12; i += 2) compared[word[i]] = word[i + 1]
	swapped["&&"] = "||"; swapped["||"] = "&&"; swapped["true"] = "false"; swapped["false"] = "true"
}

FNR == 1 { scan_end(); starts_in_comment = 0; before = "" }
{
	scan($0)
	usable = !starts_in_comment && !open_comment && !directive
	starts_in_comment = open_comment
	if (!usable) next
	match(bare, /^[ \t]*/)
	text = substr(bare, RLENGTH + 1)
	tokens = substr(code, RLENGTH + 1)
	sub(/[ \t]+$/, "", text)
	tokens = substr(tokens, 1, length(text))
	if (text == "") next
	n = 0
	if (function_now != "" && tokens !~ /^(case |assert\(|_Static_assert|static const )/) list_line()
	else if (text == "{" && depth == 1 && body && function_at != "") list_function()
	if (n) choose(function_now != "" ? function_now : function_at)
	before = tokens
}

function on_function(name, first, last, head) { delete seen }
function on_declaration(text) {}
function on_row(text) {}
function on_define(name, text) {}

function candidate(kind, from, length_of, with) {
	kinds[++n] = kind
	mutated[n] = substr(text, 1, from - 1) with substr(text, from + length_of)
}

# A function that returns at once, with a value of its type.
function list_function(    type) {
	type = head
	sub(/ *[A-Za-z0-9_]+\(.*/, "", type)
	if (type ~ /\*$/) candidate("return", 2, 0, " return NULL;")
	else if (type ~ /(^| )void$/) candidate("return", 2, 0, " return;")
	else if (type ~ /(^| )bool$/) {
		candidate("return", 2, 0, " return true;")
		candidate("return", 2, 0, " return false;")
	} else if (match(type, /struct [a-z0-9_]+$/)) candidate("return", 2, 0, " return (" substr(type, RSTART) "){0};")
	else candidate("return", 2, 0, " return 0;")
}

function balanced(s) { return gsub(/\(/, "", s) == gsub(/\)/, "", s) }

function list_line(    at) {
	if ((at = index(tokens, "return -1;"))) candidate("return", at, 10, "return 0;")
	if (balanced(tokens)) list_condition()
	list_call()
	list_tokens()
}

function list_condition(    at, end) {
	if (!match(tokens, /^(\} else |else )?(if|while) \(/)) return
	at = RLENGTH + 1
	if (!match(tokens, /\)( \{)?$/)) return
	end = RSTART
	candidate("condition", at, end - at, "!(" substr(text, at, end - at) ")")
	if (tokens ~ /if \(.*\{$/) candidate("return", at, end - at, "0") # its block is never entered
}

# Calls that only reserve or release memory are kept: no test could notice.
function list_call(    s) {
	s = tokens
	sub(/^\(void\)/, "", s)
	if (s !~ /^[a-z_][a-z0-9_]*\(/ || s ~ /^([a-z_]*free|[a-z_]*_reserve|(buf|arena|vec|context)_release|va_end|va_start|return|if|for|while|switch|sizeof)\(/) return
	if (s ~ /\);$/ && balanced(s)) candidate("call", 1, length(text), "(void)0;")
	else if (before ~ /[;{}]$/ && !balanced(s)) candidate("call", 1, 0, "if (0) ")
}

function list_tokens(    s, at, token, p, previous) {
	s = tokens
	at = 0
	while (match(s, /->|<<=?|>>=?|&&|\|\||==|!=|<=|>=|[<>!]|[A-Za-z_0-9][A-Za-z_0-9.]*/)) {
		token = substr(s, RSTART, RLENGTH)
		p = at + RSTART
		previous = p == 1 ? " " : substr(tokens, p - 1, 1)
		at = p + RLENGTH - 1
		s = substr(tokens, at + 1)
		if (token in compared && previous == " ") candidate("comparison", p, RLENGTH, compared[token])
		else if (token == "&&" || token == "||") candidate("and/or", p, 2, swapped[token])
		else if (token in swapped) candidate("constant", p, RLENGTH, swapped[token])
		else if (token == "!") candidate("condition", p, 1, "")
		else if (token ~ /^[0-9]+$/ && length(token) < 9 && constant(p, previous, s)) {
			candidate("constant", p, length(token), success(token, s) ? -1 : token + 1)
			if (token > 0) candidate("constant", p, length(token), token - 1)
		}
	}
}

# Whether a number is worth a change: not an error code, an empty initializer, or the size of an array or an allocation,
# which only a sanitizer could notice.
function constant(p, previous, after) {
	if (tokens ~ /arena_alloc\(/) return 0
	if (previous == "-" || (previous == "{" && after ~ /^\}/)) return 0
	return !(previous == "[" && tokens ~ /^(static |const |unsigned |char |int |struct |size_t |uint|int[0-9])/)
}

# Whether a number is the 0 of a function that has succeeded: its callers look whether the value is negative.
function success(token, after) { return token == "0" && after ~ /^( : -1)?;$/ && tokens ~ /^return / }

# A number from 0 to 2^31 - 2 that depends on all characters.
function hash(s,    i, h, low) {
	h = (seed * 7919 + 17) % 2147483647
	for (i = 1; i <= length(s); i++) h = (h * 16807 + ord[substr(s, i, 1)]) % 2147483647
	for (i = 0; i < 3; i++) {
		low = h % 65536
		h = (low * int(h / 65536) + h * 16807 + seed) % 2147483647
	}
	return h
}

# Chooses a kind first, then a mutation of this kind: otherwise most would change a constant.
function choose(name,    key, i, h, best, kind, least) {
	key = name "\t" text
	key = key "\t" ++seen[key]
	for (i = 1; i <= n; i++) {
		h = hash(key "\t" kinds[i])
		if (i == 1 || h < least) { least = h; kind = kinds[i] }
	}
	best = 0
	for (i = 1; i <= n; i++) {
		if (kinds[i] != kind) continue
		h = hash(key "\t" mutated[i])
		if (!best || h < least) { least = h; best = i }
	}
	h = hash(key)
	while (h in ids) h++ # the same line in a function of the same name
	ids[h] = 1
	printf "%d\t%08x\t%s\t%d\t%s\t%s\t%s\t%s\n", h, h, FILENAME, FNR, name, kind, text, mutated[best]
}
