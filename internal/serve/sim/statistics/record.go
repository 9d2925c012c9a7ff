package statistics

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Record is one request.
type Record struct {
	ID              int
	Arrival         units.Seconds
	Input, Output   int
	Kind            int // of the mix
	Cached          int // prompt tokens found in the prefix cache or the host tier
	Refused         bool
	Warmup          bool
	TTFT            units.Seconds
	TPOT            units.Seconds // zero for an answer of one token
	Latency         units.Seconds
	Preempted       int // times
	Worker, Decoder int // replicas; Decoder is -1 where workers generate
}

// The columns of our own CSV that a trace needs. Records have them too, so that
// a result can be replayed.
const (
	arrivalColumn = "arrival_s"
	inputColumn   = "input_tokens"
	outputColumn  = "output_tokens"
)

// WriteCSV writes records, one line each, times in seconds. [workload.ReadTrace]
// reads the file as a trace.
func WriteCSV(w io.Writer, records []Record) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "request,%s,%s,%s,cached_tokens,state,ttft_s,tpot_s,latency_s,preempted,worker,decoder\n",
		arrivalColumn, inputColumn, outputColumn)
	var line []byte
	for i := range records {
		line = append(records[i].appendCSV(line[:0]), '\n')
		if _, err := b.Write(line); err != nil {
			return err
		}
	}
	return b.Flush()
}

func (r *Record) appendCSV(line []byte) []byte {
	state := "finished"
	switch {
	case r.Refused:
		state = "refused"
	case r.Warmup:
		state = "warmup"
	}
	line = appendInt(line, r.ID)
	line = appendSeconds(line, r.Arrival)
	line = appendInt(append(line, ','), r.Input)
	line = appendInt(append(line, ','), r.Output)
	line = appendInt(append(line, ','), r.Cached)
	line = append(append(line, ','), state...)
	line = appendSeconds(line, r.TTFT)
	line = appendSeconds(line, r.TPOT)
	line = appendSeconds(line, r.Latency)
	line = appendInt(append(line, ','), r.Preempted)
	line = appendInt(append(line, ','), r.Worker)
	line = append(line, ',')
	if r.Decoder >= 0 {
		line = appendInt(line, r.Decoder)
	}
	return line
}

func appendInt(line []byte, n int) []byte { return strconv.AppendInt(line, int64(n), 10) }

// appendSeconds keeps nanoseconds.
func appendSeconds(line []byte, t units.Seconds) []byte {
	return strconv.AppendFloat(append(line, ','), float64(t), 'f', 9, 64)
}
