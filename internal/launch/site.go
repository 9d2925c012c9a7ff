package launch

import (
	"cmp"
	"errors"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
)

// Site is what depends on the user's cluster. Zero fields take defaults.
type Site struct {
	Namespace  string // "" writes none: objects go where they are applied
	ServedName string // "" is the model
	ModelPath  string // what the engine loads; "" is the model
	Image      string // "" is the engine's own of its version
	Port       int    // 0 is 8000
	RDMA       string // resource of the devices for RDMA, and "=" how many a pod takes; "" asks for none
	Topology   string // label of nodes that share a network; "" is that of a zone or a rack
}

// WorkerPorts is the distance from the port of the router to that of the first worker.
const WorkerPorts = 100

// The forms of names. Kubernetes: RFC 1123 labels, keys of labels and names of resources. Images: the reference grammar of the
// OCI distribution. Served names are what clients send as
// "model", a path of the model by default; engines take any text, but one that begins
// with a hyphen is a flag to their parsers, and spaces separate several names.
const (
	labelForm  = `[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?`
	imageForm  = `[A-Za-z0-9][-A-Za-z0-9._/:@+]*`
	servedForm = `[A-Za-z0-9_./][-A-Za-z0-9_./:@+=]*`
	labelKey   = `([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?`
	resourceOf = `[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?(=[1-9][0-9]?)?`
	maxName    = 256
	maxPort    = 65535
)

// Check reports the fields whose values the files, the engines or Kubernetes do not
// take. Zero fields are fine.
func (s *Site) Check() error {
	var errs []error
	form := func(name field.Name, value, pattern, want string) {
		if value != "" && (len(value) > maxName || !regexp.MustCompile("^("+pattern+")$").MatchString(value)) {
			errs = append(errs, field.Errorf("%s must be %s, got %q", name, want, value))
		}
	}
	form("namespace", s.Namespace, labelForm, "a Kubernetes name (lower-case letters, digits and hyphens, 63 at most)")
	form("image", s.Image, imageForm, "the name of a container image")
	form("served_model_name", s.ServedName, servedForm, "letters, digits and . _ / : @ + = -, 256 at most, and not begin with - : @ + =")
	form("rdma", s.RDMA, resourceOf, `a resource of Kubernetes such as rdma/ib, with "=" and a number where a pod takes several`)
	form("topology", s.Topology, labelKey, "the key of a label of nodes")
	if err := checkText("model_path", s.ModelPath); err != nil {
		errs = append(errs, err)
	}
	if s.Port < 0 || s.Port > maxPort {
		errs = append(errs, field.Errorf("%s must be from 1 to %d, got %d", field.Name("port"), maxPort, s.Port))
	}
	return errors.Join(errs...)
}

// checkText reports a model's name or path that no command line can carry: one that
// begins with a hyphen is a flag to the engines' parsers.
func checkText(name field.Name, text string) error {
	if strings.ContainsFunc(text, unicode.IsControl) || !utf8.ValidString(text) || strings.HasPrefix(text, "-") {
		return field.Errorf("%s must be UTF-8 without control characters and not begin with a hyphen, got %q", name, text)
	}
	return nil
}

// FilledSite is the plan's site with its defaults, checked.
func (p *Plan) FilledSite() (Site, error) {
	s := p.Site
	s.ModelPath = cmp.Or(s.ModelPath, p.Deployment.Model)
	err := errors.Join(s.Check(), checkText("model", p.Deployment.Model))
	s.ServedName = cmp.Or(s.ServedName, p.Deployment.Model)
	s.Port = cmp.Or(s.Port, DefaultPort(VLLM, Requests))
	return s, err
}

// CheckPorts reports ports that are too large for so many workers: each listens on one of
// its own above the router's.
func (s *Site) CheckPorts(workers int) error {
	if most := maxPort - WorkerPorts - workers; s.Port > most {
		return field.Errorf("%s must be at most %d for %d workers, got %d", field.Name("port"), most, workers, s.Port)
	}
	return nil
}
