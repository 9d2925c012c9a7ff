package device

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// Profile is one device and its system.
type Profile struct {
	Name        string
	Aliases     []string
	Vendor      Vendor
	Generation  string // "ascend-a3", "hopper", "ampere-ga102", "cdna3" …
	Description string

	// Base is the embedded profile a user's file started from, "" otherwise.
	// Coefficients fitted to the base are the best guess for its variants.
	Base string

	// Tier is the origin of the efficiencies and fixed costs.
	Tier Tier

	// Matrix and Vector are dense peaks by format, in operations per second; a
	// zero means the device has no such unit.
	Matrix [dtype.Formats]units.OpsPerSecond
	Vector [dtype.Formats]units.OpsPerSecond

	Memory units.Bytes
	// Reported is the memory that the driver reports to a process, a little less
	// than Memory; 0 is unknown. Use Usable.
	Reported  units.Bytes
	Bandwidth units.BytesPerSecond

	// Efficiencies are the share of the peaks that kernels reach.
	ComputeEfficiency float64
	MemoryEfficiency  float64

	// Fixed is the launch cost added to each operator by the unit that runs it.
	Fixed Fixed

	// Links are the levels of the interconnect, outermost first; ranks are laid
	// out row-major over their sizes.
	Links []Link

	Node  int     // devices per node: one server, one tray of GB200
	Rack  int     // devices per rack that acts as one node (GB200: 72), 0 = none
	Power float64 // watts per device, 0 = unknown
	// Throttle is how much longer products take that compute without a pause, at the limit of power, than after one, as a
	// share; 0 = no longer, or unknown.
	Throttle float64
	// Again is the time of reading a cached token that another request of the step reads too, as a share of reading it first: the
	// device's own cache has it; 0 = unknown.
	Again float64
	Price Price

	// Source is the source of the numbers.
	Source string
}

// Usable is the memory visible to a process, of which engines use a share.
func (p *Profile) Usable() units.Bytes {
	if p.Reported > 0 {
		return p.Reported
	}
	return p.Memory
}

// Vendor determines the cost model of a device.
type Vendor string

// The vendors.
const (
	Ascend Vendor = "ascend"
	NVIDIA Vendor = "nvidia"
	AMD    Vendor = "amd"
	Intel  Vendor = "intel"
	Google Vendor = "google"
	AWS    Vendor = "aws"
	Apple  Vendor = "apple"
	Test   Vendor = "test" // TEST_DEVICE, costed as Ascend
	Other  Vendor = "other"
)

// Vendors lists the vendors in the order they are shown.
func Vendors() []Vendor { return []Vendor{NVIDIA, AMD, Intel, Google, AWS, Apple, Ascend, Other, Test} }

// FollowsAscend reports whether the defaults of Ascend's guide and the assumptions of
// its model apply to the device.
func (p *Profile) FollowsAscend() bool { return p.Vendor == Ascend || p.Vendor == Test }

// Tier is the origin of a profile's efficiencies and fixed costs.
type Tier string

// The tiers, best first.
const (
	Measured    Tier = "measured"
	Calibrated  Tier = "calibrated"
	Transferred Tier = "transferred"
	Datasheet   Tier = "datasheet"
)

// Meaning describes the origin of a tier's operator times.
func (t Tier) Meaning() string {
	switch t {
	case Measured:
		return "kernel tables of this device"
	case Calibrated:
		return "fits to kernels and deployments of this device generation"
	case Transferred:
		return "fits to kernels of this device generation or a related one"
	case Datasheet:
	}
	return "data-sheet peaks and default efficiencies"
}

// Fixed is the cost of starting an operator.
type Fixed struct {
	Matrix        units.Seconds
	Vector        units.Seconds
	Communication units.Seconds
}

// Link is one level of the interconnect.
type Link struct {
	Name       string
	Size       int                  // positions along this level
	Bandwidth  units.BytesPerSecond // one direction, per device
	Latency    units.Seconds
	Efficiency float64
	Topology   Topology
	Transport  Transport
}

// Transport is how data crosses links that may need the host: PCIe.
type Transport string

// The transports. Others than PCIe are always Peer, and what is said of them changes nothing.
const (
	// ThroughHost copies through the host's memory: where the driver denies peer access, as that of GeForce cards does, or the
	// host is a virtual machine.
	ThroughHost Transport = "host"
	// Peer reads and writes the other device's memory. Only generations with a measured factor use it.
	Peer Transport = "peer"
)

// Topology of a level: through switches, or a full mesh of direct links whose
// bandwidth a smaller group can only use in part.
type Topology string

// The topologies.
const (
	Clos     Topology = "clos"
	FullMesh Topology = "full_mesh"
)

// Price is the price of one device; 0 is unknown.
type Price struct {
	USDPerHour float64    `json:"usd_per_hour"`
	Source     string     `json:"source,omitempty"`
	Class      PriceClass `json:"class,omitempty"` // on_demand, gpu_cloud, reserved, spot or yours
	Date       string     `json:"date,omitempty"`
	Region     string     `json:"region,omitempty"`
}

// PriceClass is a kind of prices: those of different kinds are not compared.
type PriceClass string

// The kinds: lists of large clouds and of GPU clouds on demand, which differ several times for the same device; commitments; spare
// capacity; and what the user gives.
const (
	OnDemand PriceClass = "on_demand"
	GPUCloud PriceClass = "gpu_cloud"
	Reserved PriceClass = "reserved"
	Spot     PriceClass = "spot"
	Yours    PriceClass = "yours"
)

// InWords is "list on demand".
func (c PriceClass) InWords() string {
	words := map[PriceClass]string{OnDemand: "list price of a large cloud, on demand", GPUCloud: "list price of a GPU cloud, on demand", Reserved: "reserved", Spot: "spot", Yours: "yours"}
	return words[c]
}

// Domain is the number of devices that the fastest links connect.
func (p *Profile) Domain() int {
	if len(p.Links) == 0 {
		return 1
	}
	return p.Links[len(p.Links)-1].Size
}

// Ranks is the number of devices the grid holds.
func (p *Profile) Ranks() int {
	n := 1
	for _, l := range p.Links {
		n *= l.Size
	}
	return n
}
