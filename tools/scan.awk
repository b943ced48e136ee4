# Scans C sources laid out by clang-format. Shared by tools/figures and tools/mutate.
#
# Call scan(line) for each line of a file, scan_end() after its last one, and define:
#   on_function(name, first, last, head)  a function's body has ended; head is the text before its `{`
#   on_declaration(text)                  a declaration at file scope, bodies in braces replaced by {}
#   on_row(text)                          a row of an X-macro list: `X(name)`
#   on_define(name, text)                 one line of a macro's definition
# After each scan(line):
#   code      the line with its comments, and what is inside its quotes, replaced by spaces
#   bare      the line with its comments replaced by spaces
#   function_now  the function whose body the line is in, or ""
#   open_comment  the line ends within a comment

function blanks(n) { return sprintf("%" n "s", "") }

# Sets code and bare. A comment or a literal is cut off at its first character, whichever comes first.
function strip(line,    at, c, rest, length_of, piece) {
	code = bare = ""
	rest = line
	while (rest != "") {
		if (open_comment) {
			at = index(rest, "*/")
			length_of = at ? at + 1 : length(rest)
			if (at) open_comment = 0
			code = code blanks(length_of); bare = bare blanks(length_of)
			rest = substr(rest, length_of + 1)
			continue
		}
		if (!match(rest, /["']|\/\/|\/\*/)) {
			code = code rest; bare = bare rest
			break
		}
		at = RSTART
		code = code substr(rest, 1, at - 1); bare = bare substr(rest, 1, at - 1)
		rest = substr(rest, at)
		c = substr(rest, 1, 2)
		if (c == "//") break
		if (c == "/*") {
			open_comment = 1
			code = code "  "; bare = bare "  "
			rest = substr(rest, 3)
			continue
		}
		c = substr(rest, 1, 1)
		if (!(c == "\"" ? match(rest, /^"([^"\\]|\\.)*"/) : match(rest, /^'([^'\\]|\\.)*'/))) RLENGTH = length(rest)
		piece = substr(rest, 1, RLENGTH)
		code = code c blanks(RLENGTH - 2) c; bare = bare piece
		rest = substr(rest, RLENGTH + 1)
	}
}

# The name that a declaration or a definition without its body gives to a function, or "".
function function_name(head,    s, name) {
	s = head
	if (match(s, /^ *[A-Z][A-Z0-9_]*\( *[a-z0-9_]+ *\) *$/)) { # made by a macro that pastes names
		gsub(/[ )]/, "", s)
		split(s, part, "(")
		return pasted[part[1]] part[2]
	}
	while (match(s, /\([^()]*\)/)) s = substr(s, 1, RSTART - 1) "@" substr(s, RSTART + RLENGTH)
	while (match(s, /[A-Za-z_][A-Za-z0-9_]* *@/)) {
		name = substr(s, RSTART, RLENGTH)
		gsub(/[ @]/, "", name)
		if (name != "__attribute__" && name !~ /^[A-Z0-9_]+$/) return name
		s = substr(s, RSTART + RLENGTH)
	}
	return ""
}

# The name of the object that a declaration declares, or "".
function object_name(text,    s) {
	s = text
	sub(/[ \t]*=.*/, "", s)
	sub(/[ \t]*__attribute__.*/, "", s)
	while (sub(/\[[^][]*\][ \t]*$/, "", s)) sub(/[ \t]+$/, "", s)
	if (s ~ /[()]/ || !match(s, /[A-Za-z_][A-Za-z0-9_]*[ \t]*$/)) return ""
	s = substr(s, RSTART)
	sub(/[ \t]+$/, "", s)
	return s
}

function scan_row() {
	if (head ~ /^ *[A-Z][A-Z0-9_]*\(.*\) *$/) { on_row(head); head = "" }
}

function scan_define(line) {
	if (!continued && match(line, /^[ \t]*#[ \t]*define[ \t]+[A-Za-z_0-9]+/)) {
		macro = substr(line, RSTART, RLENGTH)
		sub(/.*[ \t]/, "", macro)
		line = substr(line, RSTART + RLENGTH)
		defining = 1
	} else if (!continued) defining = 0
	if (defining && match(line, /[A-Za-z0-9_]+_##/)) pasted[macro] = substr(line, RSTART, RLENGTH - 2)
	if (defining) on_define(macro, line)
}

function scan(line,    s, c) {
	line_number++
	function_now = depth && body ? function_at : ""
	strip(line)
	directive = continued || code ~ /^[ \t]*#/
	if (directive) {
		scan_define(code)
		continued = code ~ /\\$/
		return
	}
	if (code ~ /^[A-Za-z_]/ && !depth) scan_row()
	s = code
	while (match(s, /[{};]/)) {
		c = substr(s, RSTART, 1)
		if (!depth) scan_head(substr(s, 1, RSTART - 1))
		s = substr(s, RSTART + 1)
		if (c == "{") {
			if (!depth++) {
				gsub(/__attribute__ *\(\([^()]*\)\) */, "", head)
				body = head ~ /\(/ && head !~ /=/
				function_at = body ? function_name(head) : ""
			}
		} else if (c == "}") {
			if (depth && !--depth) {
				if (body) { on_function(function_at, head_line, line_number, head); head = "" }
				else head = head "{}"
				body = 0
			}
		} else if (!depth) {
			if (head != "") on_declaration(head)
			head = ""
		}
	}
	if (!depth) scan_head(s)
}

function scan_head(s) {
	if (s !~ /[^ \t]/) return
	if (head == "") head_line = line_number
	gsub(/[ \t]+/, " ", s)
	head = head (head == "" ? "" : " ") s
}

function scan_end() {
	scan_row()
	head = function_at = function_now = ""
	depth = body = open_comment = continued = line_number = 0
}
