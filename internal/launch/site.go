package launch

import (
	"cmp"
	"errors"
	"regexp"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
)

// Site is what depends on the user's cluster. Zero fields take defaults.
type Site struct {
	Name         string // of objects: "qwen3-32b"; "" is made of the model's
	Namespace    string // "" writes none: objects go where they are applied
	ServedName   string // "" is the model
	ModelPath    string // what the engine loads; "" is the model
	Image        string // "" is the engine's own of its version
	Port         int    // 0 is 8000
	CacheClaim   string // claim of the volume with the weights; "" is "model-cache"
	CacheStorage string // its size; "" is "500Gi"
	TokenSecret  string // secret with HF_TOKEN; "" is "hf-token-secret"
}

// WorkerPorts is the distance from the port of the router to that of the first worker.
const WorkerPorts = 100

// The forms of names. Kubernetes: RFC 1123 labels and resource quantities. Images: the
// reference grammar of the OCI distribution. Served names are what clients send as
// "model", a path of the model by default; engines take any text, but one that begins
// with a hyphen is a flag to their parsers, and spaces separate several names.
const (
	labelForm    = `[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?`
	quantityForm = `[0-9]+(\.[0-9]+)?([kMGTPE]i?|m)?`
	imageForm    = `[A-Za-z0-9][-A-Za-z0-9._/:@+]*`
	servedForm   = `[A-Za-z0-9_./][-A-Za-z0-9_./:@+=]*`
	maxServed    = 256
	maxPort      = 65535
)

// Check reports the fields whose values the files, the engines or Kubernetes do not
// take. Zero fields are fine.
func (s *Site) Check() error {
	var errs []error
	form := func(name field.Name, value, pattern, want string, most int) {
		if value != "" && (len(value) > most || !regexp.MustCompile("^("+pattern+")$").MatchString(value)) {
			errs = append(errs, field.Errorf("%s must be %s, got %q", name, want, value))
		}
	}
	const label, longest = "a Kubernetes name (lower-case letters, digits and hyphens, 63 at most)", 63
	form("name", s.Name, labelForm, label, longest)
	form("namespace", s.Namespace, labelForm, label, longest)
	form("cache_claim", s.CacheClaim, labelForm, label, longest)
	form("token_secret", s.TokenSecret, labelForm, label, longest)
	form("cache_storage", s.CacheStorage, quantityForm, "a Kubernetes quantity (500Gi)", longest)
	form("image", s.Image, imageForm, "the name of a container image", maxServed)
	form("served_model_name", s.ServedName, servedForm,
		"letters, digits and . _ / : @ + = -, 256 at most, and not begin with - : @ + =", maxServed)
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
	control := strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
	if control || strings.HasPrefix(text, "-") {
		return field.Errorf("%s must not begin with a hyphen or contain control characters, got %q", name, text)
	}
	return nil
}

// FilledSite is the plan's site with its defaults, checked.
func (p *Plan) FilledSite() (Site, error) {
	s := p.Site
	s.ModelPath = cmp.Or(s.ModelPath, p.Deployment.Model)
	err := errors.Join(s.Check(), checkText("model", p.Deployment.Model))
	s.ServedName = cmp.Or(s.ServedName, p.Deployment.Model)
	s.Name = cmp.Or(s.Name, objectName(p.Deployment.Model))
	s.Port = cmp.Or(s.Port, 8000)
	s.CacheClaim = cmp.Or(s.CacheClaim, "model-cache")
	s.CacheStorage = cmp.Or(s.CacheStorage, "500Gi")
	s.TokenSecret = cmp.Or(s.TokenSecret, "hf-token-secret")
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

// objectName is a model's name as Kubernetes names objects (RFC 1123: lower case,
// digits and hyphens, 63 at most; a suffix must fit too).
func objectName(model string) string {
	const longest = 40
	model = model[strings.LastIndexByte(model, '/')+1:]
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, model)
	name = strings.Trim(name[:min(len(name), longest)], "-")
	return cmp.Or(name, "model")
}
