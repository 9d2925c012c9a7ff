package constants

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/nearest"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
)

// Choice is what is taken of a fit to the kernels of one generation.
type Choice struct {
	// Like is another generation, whose start this one shares but for what its own says.
	Like string `yaml:"like"`
	// Start is what the fit starts from, and is drawn to.
	Start calibrated.Constants `yaml:"start"`
	// Fitted are the forms that take the fit's constants; the others keep the start's.
	Fitted []string `yaml:"fitted"`
}

// Take is the start with the fitted forms of a fit.
func (c *Choice) Take(fit calibrated.Constants) calibrated.Constants {
	out := c.Start
	to, from := out.Forms(), fit.Forms()
	for i := range to {
		if !slices.Contains(c.Fitted, to[i].Name) {
			continue
		}
		for k := range to[i].Parameters {
			*to[i].Parameters[k].Value = *from[i].Parameters[k].Value
		}
	}
	return out
}

// ReadSelection reads the choices for some generations from a YAML file like selection.yaml.
func ReadSelection(file string, data []byte) (map[string]Choice, error) {
	var nodes map[string]yaml.Node
	if err := yaml.Unmarshal(data, &nodes); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	out := map[string]Choice{}
	var errs []error
	for _, generation := range slices.Sorted(maps.Keys(nodes)) {
		c, err := readChoice(nodes, generation)
		if err == nil {
			err = c.check()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: %w", file, generation, err))
		}
		out[generation] = c
	}
	if len(nodes) == 0 {
		errs = append(errs, fmt.Errorf("%s: no generation", file))
	}
	return out, errors.Join(errs...)
}

// readChoice reads one generation, on top of the start of the one it is like.
func readChoice(nodes map[string]yaml.Node, generation string) (c Choice, err error) {
	node := nodes[generation]
	var relative struct {
		Like string `yaml:"like"`
	}
	if err := node.Decode(&relative); err != nil {
		return c, err
	}
	if relative.Like != "" {
		other, ok := nodes[relative.Like]
		if !ok || relative.Like == generation {
			return c, fmt.Errorf("like: the file has no other generation %s", relative.Like)
		}
		if err := strict(&other, &c); err != nil {
			return c, err
		}
		if c.Like != "" {
			return c, fmt.Errorf("like: %s is itself like %s", relative.Like, c.Like)
		}
		c.Fitted = nil
		c.Start.Widened = calibrated.Widened{} // kernels that a generation has or has not
	}
	return c, strict(&node, &c)
}

// strict decodes a node that has no unknown keys.
func strict(node *yaml.Node, into any) error {
	text, err := yaml.Marshal(node)
	if err != nil {
		return err
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// check finds the first form that there is not, or constant that cannot be.
func (c *Choice) check() error {
	forms := c.Start.Forms()
	names := make([]string, len(forms))
	for i, f := range forms {
		names[i] = f.Name
	}
	for _, name := range c.Fitted {
		if slices.Contains(names, name) {
			continue
		}
		return fmt.Errorf("fitted: unknown form %q%s", name, cmp.Or(nearest.Hint(name, names), "; the forms are "+strings.Join(names, ", ")))
	}
	for _, f := range forms {
		for _, p := range f.Parameters {
			if *p.Value < p.Low || *p.Value > p.High {
				return fmt.Errorf("start: %s: %s: must be between %g and %g, got %g", f.Name, p.Name, p.Low, p.High, *p.Value)
			}
		}
	}
	return nil
}
