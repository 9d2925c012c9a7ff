package bound

import (
	"math"
	"strconv"
	"strings"
)

// Kind is a kind of input.
type Kind int

// The kinds.
const (
	Launch Kind = iota
	Config
	Trace
	Bins
	Result
	Rows
	Table
	Profile
	Calibration
	Selection
	Grid
	Experiments
	Answers
	Record
	Request
	Users
	Engine
	kinds
)

// row is what the table says of a kind.
type row struct {
	name  string
	bytes int64
}

// table has the name of each kind and the bytes it may have, beside what real ones have.
func table() [kinds]row {
	return [kinds]row{
		Launch:      {"launch script or manifest", 1 << 20},         // Kubernetes keeps no larger object; ours have up to 20 KB
		Config:      {"config.json", 8 << 20},                       // below 1 MiB, with a quantization entry for every matrix
		Trace:       {"trace or file of lengths", 1 << 30},          // 36 bytes a request in Azure's, 285 in Mooncake's
		Bins:        {"file of length bins", 1 << 20},               // 35 bins have 3 KiB
		Result:      {"benchmark result", 64 << 20},                 // 3,000 requests with the times of 1,000 tokens each
		Rows:        {"file of measured rows", 64 << 20},            // 150 bytes a row
		Table:       {"kernel table", 64 << 20},                     // the largest of AIConfigurator have 2 MB
		Profile:     {"device profile", 1 << 20},                    // 2 KB
		Calibration: {"calibration", 2 << 20},                       // the shipped one has 60 KB
		Selection:   {"selection of operator forms", 1 << 20},       // the shipped one has 14 KB
		Grid:        {"grid of a sweep", 2 << 20},                   // may hold distributions of lengths
		Experiments: {"file of experiments", 1 << 20},               // 1 KB an experiment
		Answers:     {"file of answers", 64 << 10},                  // 40 answers
		Record:      {"saved plan, deployment or record", 16 << 20}, // a plan for two systems has 470 KB
		Request:     {"request", 1 << 20},                           // to a server, with the files that come in it
		Users:       {"list of users", 1 << 20},                     // 50 bytes a user
		Engine:      {"engine of the live page", 256 << 20},         // compressed WebAssembly
	}
}

// Kinds are all kinds.
func Kinds() []Kind {
	out := make([]Kind, kinds)
	for i := range out {
		out[i] = Kind(i)
	}
	return out
}

// String names the kind.
func (k Kind) String() string { return table()[k].name }

// Bytes is the most that an input of the kind may have.
func (k Kind) Bytes() int64 { return table()[k].bytes }

// Allowed says how large the kind may be: "a device profile may have at most 1 MiB".
func (k Kind) Allowed() string {
	article := "a "
	if strings.ContainsRune("aeiou", rune(k.String()[0])) {
		article = "an "
	}
	return article + k.String() + " may have at most " + Size(k.Bytes())
}

// Size prints bytes in a binary unit, rounded up to a tenth, so that what is above a bound looks so: "1 MiB", "1.1 MiB".
func Size(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	x, at := float64(n), 0
	for x >= 1<<10 && at < len(units)-1 {
		x, at = x/(1<<10), at+1
	}
	return strconv.FormatFloat(math.Ceil(x*10)/10, 'f', -1, 64) + " " + units[at]
}
