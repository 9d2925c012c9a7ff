package files

import (
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// plain is scripts with the engine's own commands.
type plain struct{ scripts }

// files are the engine's own commands: a script for each node, and for several
// workers a router in front of them. TensorRT-LLM has a config file for each role
// beside.
func (w plain) files() ([]launch.File, error) {
	if w.engine() == launch.MindIE {
		return w.mindie()
	}
	w.writer = w.scripted()
	nodes := w.placed()
	files, err := w.configFiles("plain/", nodes)
	if err != nil {
		return nil, err
	}
	for i, node := range nodes {
		s := &script{}
		for j := range node {
			if err := w.process(s, &node[j], launch.OwnServer); err != nil {
				return nil, err
			}
		}
		for unit := range w.units() {
			if all := leaders(nodes, unit); all[0].home == i {
				w.start(s, unit, all)
			}
		}
		heading := w.heading(fmt.Sprintf("Node %d of %d", i, len(nodes)))
		files = append(files, w.nodeScript(heading, len(nodes), s).file(fmt.Sprintf("plain/node_%d.sh", i)))
	}
	return byPath(files), nil
}
