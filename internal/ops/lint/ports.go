package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// ports reports ports that two processes of a host open, with the defaults of the programs, or that no host has.
func (x *inspection) ports() {
	const most = 65535
	type place struct {
		file, host  string
		after, port int
	}
	takers := map[place][]*launch.Process{}
	var taken []place // in order
	for i := range x.found.Processes {
		p := &x.found.Processes[i]
		if !onHost(p) {
			continue
		}
		for _, o := range p.Ports {
			for n := o.First; n < o.First+o.Count; n++ {
				at := place{p.File, p.Host, p.After, n}
				if takers[at] == nil {
					taken = append(taken, at)
				}
				takers[at] = append(takers[at], p)
			}
		}
	}
	for _, at := range taken {
		by := takers[at]
		where := launch.Place{File: at.file, Line: by[len(by)-1].Line}
		switch {
		case at.port < 1 || at.port > most:
			x.report("PL052", where, "port", fmt.Sprintf("%d is not from 1 to %d", at.port, most), "")
		case collide(by):
			x.report("PL052", where, "port", fmt.Sprintf("%d is opened %d times: %s", at.port, len(by), openers(by, at.port)), "")
		}
	}
}

// onHost reports a process with the ports of its host: of a script, or of a service of Compose that has its host's network.
func onHost(p *launch.Process) bool {
	return !p.Remote && (p.In == nil || strictyaml.Scalar(p.In, "network_mode") == "host")
}

// collide reports whether a process opens a port twice, or while another runs that has it: not where only one of several branches of a script
// starts it.
func collide(by []*launch.Process) bool {
	var runs, before *launch.Process
	for _, p := range by {
		switch {
		case p == before, runs != nil && !p.Maybe:
			return true
		case p.Beside && !p.Maybe:
			runs = p
		}
		before = p
	}
	return false
}

// openers says what opens a port.
func openers(by []*launch.Process, port int) string {
	var out []string
	for _, p := range slices.Compact(slices.Clone(by)) {
		for _, o := range p.Ports {
			if o.First <= port && port < o.First+o.Count {
				out = append(out, fmt.Sprintf("%s for %s", p.Program, o.Purpose))
			}
		}
	}
	return strings.Join(out, ", ")
}
