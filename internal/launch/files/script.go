package files

import (
	"fmt"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// script is a shell script in the making.
type script struct{ strings.Builder }

// add writes a line.
func (s *script) add(format string, args ...any) {
	fmt.Fprintf(s, format+"\n", args...)
}

// newScript begins a script that stops all it started when it ends.
func newScript(heading string) *script {
	s := &script{}
	s.WriteString("#!/usr/bin/env bash\n" + heading)
	s.add("set -euo pipefail")
	return s
}

// supervise is for scripts that start several processes: they end together.
func (s *script) supervise() {
	s.add(`trap 'trap - EXIT; kill $(jobs -p) 2>/dev/null || true' EXIT INT TERM`)
}

// addresses asks for the addresses of nodes that the rest of a script talks to. A
// single node is this one.
func addresses(nodes int, rest string) string {
	var out script
	for i := range nodes {
		switch {
		case !strings.Contains(rest, nodeIP(i)):
		case nodes == 1:
			out.add(`NODE_0_IP="${NODE_0_IP:-127.0.0.1}"`)
		default:
			out.add(`: "${NODE_%d_IP:?address of node %d}"`, i, i)
		}
	}
	return out.String()
}

// nodeIP is the variable with a node's address.
func nodeIP(node int) string { return fmt.Sprintf("${NODE_%d_IP}", node) }

// nodeAddress is a node's address in commands.
func (w scripts) nodeAddress(node int) string {
	if w.host != nil {
		return w.host(node)
	}
	return nodeIP(node)
}

// file makes a file of a script.
func (s *script) file(path string) launch.File {
	return launch.File{Path: path, Mode: scriptFile, Data: []byte(s.String())}
}

// nodeScript completes a script that starts the processes of a node.
func (w scripts) nodeScript(heading string, nodes int, body *script) *script {
	s := newScript(heading)
	s.supervise()
	s.WriteString(addresses(nodes, body.String()))
	if w.engine() == launch.TRTLLM { // its commands name config files beside the script
		s.add(`cd "$(dirname "$0")"`)
	}
	s.WriteString(body.String())
	s.add("\nwait -n")
	return s
}
