# Counts what tools/figures prints; see there what the columns mean. Reads "LINES FILE" of the tests
# from its first input, then the sources. form and apart are set by tools/figures.

BEGIN {
	n_apart = split(apart, word, " ")
	for (i = 1; i <= n_apart; i++) is_apart[word[i]] = 1
}

test_lines { count_test($2, $1); next }
FNR == 1 {
	if (file != "") end_file()
	begin_file(FILENAME)
}
{
	scan($0)
	lines++
	note_struct(code)
	if (!header) note_words(code)
	else if (depth && body) note_uses(function_at, code)
}
END {
	if (file != "") end_file()
	count_users()
	count_structs()
	for (name in declared_in) count_prefix(name)
	if (form == "text") print_text()
	else if (form == "json") print_json()
}

function note(kind, text) { if (form == "list") print kind, text }

# --- one file

function begin_file(path,    part, n) {
	file = path
	header = path ~ /\.h$/
	lines = 0
	n = split(path, part, "/")
	room = part[1] == "src" ? part[1] "/" part[2] : part[1]
	room_name = part[1] == "src" ? part[2] : part[1]
	stem = part[n]
	sub(/\.[ch]$/, "", stem)
	sub(/_internal$/, "", stem)
	if (!(room in known)) { known[room] = 1; rooms[++n_rooms] = room }
	in_total[room] = 1 + (room_name in is_apart)
	room_of[file] = room
	delete tags
}

function end_file(    name) {
	scan_end()
	add(room, header ? "h" : "c", 1)
	add(room, "lines", lines)
	if (header && lines < 40) { add(room, "short", 1); note("short-h", file ": " lines " lines") }
	for (name in names) if (!prefixed(name)) declared_in[name SUBSEP file] = room
	delete names
}

# A figure counts for its room and for the totals.
function add(where, figure, n) {
	sum[where, figure] += n
	sum["total", figure] += n
	if (in_total[where] == 1) sum["core", figure] += n
}

function count_test(path, n,    part, m, i, dir, other) {
	m = split(path, part, /[\/_.]/)
	for (i = 2; i <= m; i++) if (part[i] in is_apart) other = 1
	dir = path
	sub(/^tests\//, "", dir)
	if (!sub(/\/.*/, "", dir)) dir = "."
	if (!(dir in test_files)) test_dirs[++n_test_dirs] = dir
	test_files[dir]++
	test_lines_of[dir] += n
	sum["total", "tests"] += n
	if (!other) sum["core", "tests"] += n
}

# --- what the scan reports

function on_function(name, first, last, head,    n) {
	n = last - first + 1
	add(room, "functions", 1)
	count_length(room, n)
	count_length("total", n)
	if (in_total[room] == 1) count_length("core", n)
	if (n > 60) { add(room, "long", 1); note("over-60", file ":" first ": " name ": " n " lines") }
	if (head ~ /(^| )static( |$)/) {
		own[file, name] = 1
		if (header) names[name] = 1
	} else if (!header && name != "main") defined_by[name] = file
}

function count_length(where, n) {
	histogram[where, n]++
	if (n > longest[where]) longest[where] = n
}

function on_declaration(text,    name) {
	if (match(text, /^ *(typedef |static |const )*(struct|union|enum) [A-Za-z_0-9]+/)) {
		name = substr(text, RSTART, RLENGTH)
		sub(/.* /, "", name)
		if (substr(text, RSTART + RLENGTH) ~ /^ *(\{\}.*)?$/) { tags[name] = 1; return }
	}
	if (!header || text ~ /^ *(typedef|_Static_assert|static_assert)/) return
	name = function_name(text)
	if (name == "" && text ~ /(^| )extern /) name = object_name(text)
	if (name != "") names[name] = 1
}

function note_struct(text,    name) {
	gsub(/__attribute__ *\(\([^()]*\)\) */, "", text)
	if (!match(text, /struct [A-Za-z_0-9]+ \{/)) return
	name = substr(text, RSTART + 7, RLENGTH - 9)
	if ((name, file) in struct_seen) return
	struct_seen[name, file] = 1
	struct_files[name] = struct_files[name] " " file
}

function on_row(text,    name) {
	gsub(/[^A-Za-z0-9_]+/, " ", text)
	n_words = split(text, word, " ")
	for (i = 2; i <= n_words; i++) if (word[i] ~ /^[a-z]/) listed[word[i]] = 1
}

function on_define(name, text) { if (header) note_uses(name, text) }

# --- who uses what

function words_of(text) {
	gsub(/(->|\.)[ ]*[A-Za-z_][A-Za-z0-9_]*/, " ", text) # members
	gsub(/(struct|union|enum) +[A-Za-z_0-9]+/, " ", text)
	return split(text, word, /[^A-Za-z0-9_]+/)
}

function note_words(text,    n) {
	for (n = words_of(text); n; n--) uses[word[n], file] = 1
}

function note_uses(by, text,    n) {
	for (n = words_of(text); n; n--) if (word[n] ~ /^[A-Za-z_]/ && word[n] != by) brings[by, word[n]] = 1
}

function count_users(    key, part, round, name, f, prefix) {
	for (round = 0; round < 3; round++) # a macro may use a macro
		for (key in brings) {
			split(key, part, SUBSEP)
			for (f in room_of) if ((part[1], f) in uses) uses[part[2], f] = 1
		}
	for (name in listed) for (prefix in pasted) registered[pasted[prefix] name] = registered[name] = 1
	for (name in defined_by) {
		if (name in registered) continue
		f = defined_by[name]
		public[f] = 1
	}
	for (key in uses) {
		split(key, part, SUBSEP)
		name = part[1]
		if (!(name in defined_by) || name in registered) continue
		f = defined_by[name]
		if (f == part[2] || (part[2], name) in own || (f, part[2]) in user_seen) continue
		user_seen[f, part[2]] = 1
		users[f]++
		user[f] = part[2]
	}
	for (f in public)
		if (users[f] == 1) { add(room_of[f], "single", 1); note("one-user", f ": only " user[f]) }
}

# --- names

function begins(name, with) { return name == with || index(name, with "_") == 1 }

function prefixed(name,    tag) {
	if (begins(name, room_name) || begins(name, stem)) return 1
	for (tag in tags) if (begins(name, tag)) return 1
	return 0
}

function count_prefix(key,    part) {
	split(key, part, SUBSEP)
	add(declared_in[key], "names", 1)
	note("no-prefix", part[2] ": " part[1])
}

function count_structs(    name, n, f, i, in_room, r, core) {
	for (name in struct_files) {
		n = split(struct_files[name], f, " ")
		if (n < 2) continue
		core = 0
		delete in_room
		for (i = 1; i <= n; i++) in_room[room_of[f[i]]] = 1
		for (r in in_room) sum[r, "structs"]++
		for (i = 1; i <= n; i++) core += in_total[room_of[f[i]]] == 1
		sum["total", "structs"]++
		if (core > 1) sum["core", "structs"]++
		note("same-struct", name ":" struct_files[name])
	}
}

# --- printing

function rank(where, share,    want, i, seen) {
	want = sum[where, "functions"] * share
	for (i = 1; i <= longest[where]; i++) if ((seen += histogram[where, i]) >= want) return i
	return 0
}

function row(where, label) {
	printf "%-14s %5d %5d %7d %9d %6d %4d %4d %8d %7d %9d %11d %7d\n", label, sum[where, "c"], sum[where, "h"],
		sum[where, "lines"], sum[where, "functions"], rank(where, 0.5), rank(where, 0.95), longest[where],
		sum[where, "single"], sum[where, "short"], sum[where, "names"], sum[where, "structs"], sum[where, "long"]
}

function ratio(where) {
	return sprintf("%d test lines to %d code lines: %.2f", sum[where, "tests"], sum[where, "lines"],
		sum[where, "lines"] ? sum[where, "tests"] / sum[where, "lines"] : 0)
}

function print_text(    i) {
	printf "%-14s %5s %5s %7s %9s %6s %4s %4s %8s %7s %9s %11s %7s\n", "room", ".c", ".h", "lines", "functions",
		"median", "p95", "max", "one-user", "short-h", "no-prefix", "same-struct", "over-60"
	for (i = 1; i <= n_rooms; i++) row(rooms[i], rooms[i])
	row("total", "total")
	row("core", "core")
	printf "\n%-14s %5s %7s\n", "tests", "files", "lines"
	for (i = 1; i <= n_test_dirs; i++)
		printf "%-14s %5d %7d\n", test_dirs[i], test_files[test_dirs[i]], test_lines_of[test_dirs[i]]
	printf "\ntotal: %s\ncore:  %s\n", ratio("total"), ratio("core")
	print "core is the total without " apart
}

function json(kind, label, where) {
	printf "{\"%s\":\"%s\",\"c\":%d,\"h\":%d,\"lines\":%d,\"functions\":%d,\"median\":%d,\"p95\":%d,\"max\":%d,", kind, label,
		sum[where, "c"], sum[where, "h"], sum[where, "lines"], sum[where, "functions"], rank(where, 0.5),
		rank(where, 0.95), longest[where]
	printf "\"one_user\":%d,\"short_h\":%d,\"no_prefix\":%d,\"same_struct\":%d,\"over_60\":%d", sum[where, "single"],
		sum[where, "short"], sum[where, "names"], sum[where, "structs"], sum[where, "long"]
	if (kind == "total") printf ",\"test_lines\":%d", sum[where, "tests"]
	print "}"
}

function print_json(    i) {
	for (i = 1; i <= n_rooms; i++) json("room", rooms[i], rooms[i])
	json("total", "total", "total")
	json("total", "core", "core")
	for (i = 1; i <= n_test_dirs; i++)
		printf "{\"tests\":\"%s\",\"files\":%d,\"lines\":%d}\n", test_dirs[i], test_files[test_dirs[i]], test_lines_of[test_dirs[i]]
}
