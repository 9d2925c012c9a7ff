package bound

import (
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// What a small input can ask for. A shell of a few lines can loop for ever and double a text with every line; a few aliases
// of YAML stand for more values than memory holds.
const (
	// Steps are the commands that are followed of the scripts of a target: 512 workers need as many.
	Steps = 2_000
	// Words are those that one word of a script may become, as "{0..63}" does, and the turns of a loop that counts.
	Words = 512
	// Shells are scripts and functions inside each other, as "bash -c" in a here-document in a manifest.
	Shells = 16
	// Nesting is how deep the syntax of a script may be: a command in a loop in a function is some twenty deep.
	Nesting = 1_000
	// Text is the length of what a word, variable or document of a script expands to, and Expanded that of all together,
	// in bytes. Work without a result counts as well: matching a pattern as its length times that of the text, copying a
	// variable as 64 bytes.
	Text     = 1 << 20
	Expanded = 32 << 20
	// Arguments are those of a command that starts an engine.
	Arguments = 4_096
	// Problems of launch files, beyond which they are files of something else.
	Problems = 1_000
	// YAMLValues are the values of a file of YAML, with those that its aliases stand for, and YAMLDepth those inside each other.
	YAMLValues = 500_000
	YAMLDepth  = 100
	// JSONObjects are the objects and lists of a JSON value, and JSONValues its numbers and texts with them.
	JSONObjects = 1 << 18
	JSONValues  = 1 << 23
	// RequestObjects are the objects and lists of a request.
	RequestObjects = 1 << 15
	// TableRows are those of a kernel table, of which the largest have 260,000, and TableBytes what is read of it without
	// compression: 3 MB are usual.
	TableRows  = 1 << 21
	TableBytes = 1 << 28
	// MeasuredRows are those of a file of measurements: each is predicted.
	MeasuredRows = 50_000
	// Mistakes of a request are reported one by one, each in a Message of as many bytes: what is wrong may be a text of a megabyte.
	Mistakes = 100
	Message  = 16 << 10
	// TraceRequests are those of a trace, TraceBlocks the blocks of their prompts, and Line the bytes of a line or record.
	TraceRequests = 1 << 22
	TraceBlocks   = 1 << 24
	Line          = 8 << 20
	// Pipe is how much is kept of what comes through a pipe, in bytes.
	Pipe = 256 << 20
	// Entries are the files and folders in a folder that is searched, at any depth.
	Entries = 100_000
	// FolderBytes are those of the files that are read of such a folder.
	FolderBytes = 1 << 30
)

// Number is one of these bounds in words.
type Number struct {
	What string
	Most int
}

// Numbers are the bounds above.
func Numbers() []Number {
	return []Number{
		{"commands followed in the scripts of a target", Steps},
		{"words that a word of a script becomes", Words},
		{"scripts and functions inside each other", Shells},
		{"depth of a script's syntax", Nesting},
		{"bytes that a word of a script expands to", Text},
		{"bytes of texts that scripts expand or compare", Expanded},
		{"arguments of a command that starts an engine", Arguments},
		{"problems of launch files", Problems},
		{"values of a YAML file, with those of aliases", YAMLValues},
		{"YAML values inside each other", YAMLDepth},
		{"objects and lists of a JSON value", JSONObjects},
		{"values of a JSON value", JSONValues},
		{"objects and lists of a request", RequestObjects},
		{"mistakes told of a request", Mistakes},
		{"bytes of the message about one", Message},
		{"rows of a kernel table", TableRows},
		{"bytes read of a kernel table, without compression", TableBytes},
		{"rows of a file of measurements", MeasuredRows},
		{"requests of a trace", TraceRequests},
		{"blocks of a trace", TraceBlocks},
		{"bytes of a line of a trace", Line},
		{"bytes kept of a pipe", Pipe},
		{"files and folders in a folder", Entries},
		{"bytes read of the files in a folder", FolderBytes},
	}
}

// OverError is an input that asks for more than is done for it.
type OverError struct {
	What string // in the plural: "commands to follow"
	Most int
}

// Over is the error of more than there may be of something.
func Over(most int, what string) error { return &OverError{what, most} }

// Error says how many there may be.
func (e *OverError) Error() string {
	return fmt.Sprintf("more than %s %s", units.Thousands(e.Most), e.What)
}
