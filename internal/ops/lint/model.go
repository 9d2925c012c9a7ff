package lint

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// named finds the model and the device that the files name, and reports whether both are known. What a flag of the
// request names wrongly is an error; what the files do is a finding.
func (x *inspection) named(d *deployment.Deployment) (bool, error) {
	known, err := x.model(d)
	if err != nil {
		return false, err
	}
	if d.System == "" {
		x.at(x.add("PL019", "device", "the files do not name the device: memory and speed are not checked", "--system DEVICE"), "", "")
		return false, nil
	}
	if _, err := x.world.Device(d.System, ""); err != nil {
		return false, err
	}
	return known, nil
}

// model finds the model that the files name.
func (x *inspection) model(d *deployment.Deployment) (bool, error) {
	name := d.Model
	if name == "" || strings.Contains(name, "$") || strings.Trim(name, ".") == "" {
		what := "the files do not name the model: memory and speed are not checked"
		if name != "" {
			what = fmt.Sprintf("the files set no value for %s: memory and speed are not checked", name)
		}
		x.aboutModel("PL018", what, "--model MODEL")
		return false, nil
	}
	_, err := x.world.Model(name, d.AsFamily)
	if err == nil || x.r.Model != "" {
		return err == nil, err
	}
	missing := errors.As(err, new(*model.UnknownError)) || errors.As(err, new(*model.AmbiguousError))
	switch {
	case isPath(name) && (missing || x.world.Dir == nil || errors.Is(err, fs.ErrNotExist)):
	case missing:
		x.aboutModel("PL017", err.Error()+": memory and speed are not checked", "--model FOLDER with its config.json")
		return false, nil
	default:
		return false, err // a folder that is there, with a config.json that cannot be read
	}
	return x.alike(d, err), nil
}

// alike takes the model that the name of a path means, if that is one.
func (x *inspection) alike(d *deployment.Deployment, err error) bool {
	name := d.Model
	for i, like := range names(name) {
		m, other := model.Source{}.Open(like)
		if other == nil {
			x.aboutModel("PL016", fmt.Sprintf("%s does not exist; its name suggests %s", name, m.ID), "")
			d.Model = like
			if strings.EqualFold(path.Base(m.ID), path.Base(like)) {
				d.Model = m.ID
			}
			return true
		}
		if i == 0 {
			err = other
		}
	}
	x.aboutModel("PL017", fmt.Sprintf("%s does not exist: %s; memory and speed are not checked", name, err), "--model FOLDER with its config.json")
	return false
}

// aboutModel adds a finding where the files name the model.
func (x *inspection) aboutModel(code, what, better string) {
	x.first(x.add(code, "model", what, better), "model")
}

// isPath reports a name that is a path, or a repository in a store, and not an id of Hugging Face.
func isPath(name string) bool {
	return strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~") || strings.Count(name, "/") > 1 || strings.Contains(name, "://")
}

// names are the ids of Hugging Face that a path may mean: that of a folder in its cache, or the last parts of the path.
func names(at string) []string {
	at = strings.TrimSuffix(path.Clean(at), "/config.json")
	parts := strings.Split(strings.Trim(at, "/"), "/")
	for _, p := range parts {
		if id, ok := strings.CutPrefix(p, "models--"); ok {
			return []string{strings.Replace(id, "--", "/", 1)}
		}
	}
	last := parts[len(parts)-1]
	if len(parts) < 2 {
		return []string{last}
	}
	return []string{last, parts[len(parts)-2] + "/" + last}
}

// unresolved lists the pools as they are written.
func (x *inspection) unresolved() {
	for i := range x.d.Pools {
		p := &x.d.Pools[i]
		l := p.Layout
		l.TP, l.PP, l.DP = max(1, l.TP), max(1, l.PP), max(1, l.DP)
		pool := Pool{Role: p.Role, Replicas: p.Replicas, Devices: l.Devices, Layout: l.Label(false), Settings: []string{}}
		for j := range x.found.Launches {
			if launch := &x.found.Launches[j]; launch.Role == p.Role || x.half {
				pool.Settings = launch.Written()
				break
			}
		}
		x.out.Pools = append(x.out.Pools, pool)
	}
}
