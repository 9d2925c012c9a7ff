package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lockedWriter lets several write whole lines.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// Write writes one line.
func (l *lockedWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(line)
}

// onlyMessages passes on the lines that are messages. Others are answered with an error: the library would end the session,
// and with it the server, for one bad line.
func onlyMessages(in io.Reader, answers io.Writer) io.Reader {
	out, pass := io.Pipe()
	go func() {
		lines := bufio.NewReader(in)
		for {
			line, long, err := nextLine(lines)
			if refusal := refuse(line, long); refusal != nil {
				_, _ = answers.Write(append(refusal, '\n')) // a client that is gone needs none
			} else if len(line) > 0 {
				if _, err := pass.Write(append(line, '\n')); err != nil {
					return // the session ended
				}
			}
			if err != nil {
				if errors.Is(err, io.EOF) {
					err = nil
				}
				_ = pass.CloseWithError(err)
				return
			}
		}
	}()
	return out
}

// nextLine reads a line without its end. Of one that is too long it drops the rest.
func nextLine(r *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, more, err := r.ReadLine()
		if len(line)+len(part) > MaxBody {
			long = true
		} else {
			line = append(line, part...)
		}
		if err != nil || !more {
			return bytes.TrimSpace(line), long, err
		}
	}
}

// refuse is the answer to a line that is no message, nil for one that is and for an empty one.
func refuse(line []byte, long bool) []byte {
	code, text := int64(jsonrpc.CodeParseError), "not JSON"
	switch {
	case long:
		code, text = jsonrpc.CodeInvalidRequest, "the line is longer than 1 MiB"
	case len(line) == 0:
		return nil
	case json.Valid(line):
		_, err := jsonrpc.DecodeMessage(line)
		if err == nil {
			return nil
		}
		code, text = jsonrpc.CodeInvalidRequest, "not a JSON-RPC message: one object in a line, with jsonrpc, method and an id"
	}
	id := json.RawMessage("null")
	var with struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(line, &with) == nil && with.ID != nil {
		id = with.ID
	}
	out, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": text}})
	if err != nil {
		return nil
	}
	return out
}
