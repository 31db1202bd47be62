package sarif

// The parts of SARIF 2.1.0 that we write, with the standard's own names. A field without omitempty is always present.

type document struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []run  `json:"runs"`
}

type run struct {
	Tool struct {
		Driver driver `json:"driver"`
	} `json:"tool"`
	Invocations []invocation `json:"invocations"`
	Provenance  []provenance `json:"versionControlProvenance,omitempty"`
	ColumnKind  string       `json:"columnKind"`
	Results     []result     `json:"results"`
	Properties  properties   `json:"properties"`
}

type driver struct {
	Name            string       `json:"name"`
	InformationURI  string       `json:"informationUri"`
	Version         string       `json:"version,omitempty"`
	SemanticVersion string       `json:"semanticVersion,omitempty"`
	Rules           []descriptor `json:"rules"`
	Notifications   []descriptor `json:"notifications"`
}

// descriptor is a rule, or a kind of notification.
type descriptor struct {
	ID                   string     `json:"id"`
	ShortDescription     text       `json:"shortDescription"`
	FullDescription      *text      `json:"fullDescription,omitempty"`
	Help                 *help      `json:"help,omitempty"`
	HelpURI              string     `json:"helpUri,omitempty"`
	DefaultConfiguration *config    `json:"defaultConfiguration,omitempty"`
	Properties           properties `json:"properties,omitempty"`
}

type text struct {
	Text string `json:"text"`
}

type help struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown"`
}

type config struct {
	Level string `json:"level"`
}

// provenance is the commit that was judged.
type provenance struct {
	RepositoryURI string `json:"repositoryUri"`
	// MappedTo is the repository's root.
	MappedTo   artifact `json:"mappedTo"`
	RevisionID string   `json:"revisionId,omitempty"`
	Branch     string   `json:"branch,omitempty"`
}

type invocation struct {
	ExecutionSuccessful bool           `json:"executionSuccessful"`
	Notifications       []notification `json:"toolExecutionNotifications,omitempty"`
}

type notification struct {
	Level      string    `json:"level"`
	Message    text      `json:"message"`
	Descriptor reference `json:"descriptor"`
}

// reference points at a descriptor.
type reference struct {
	ID    string `json:"id"`
	Index int    `json:"index"`
}

type result struct {
	RuleID string `json:"ruleId"`
	// RuleIndex is nil for a rule that is not in the list.
	RuleIndex           *int              `json:"ruleIndex,omitempty"`
	Level               string            `json:"level"`
	Message             text              `json:"message"`
	Locations           []location        `json:"locations"`
	RelatedLocations    []location        `json:"relatedLocations,omitempty"`
	PartialFingerprints map[string]string `json:"partialFingerprints"`
	Suppressions        []suppression     `json:"suppressions"`
	Properties          properties        `json:"properties"`
}

type location struct {
	ID       int `json:"id,omitempty"`
	Physical struct {
		Artifact artifact `json:"artifactLocation"`
		Region   struct {
			StartLine   int `json:"startLine"`
			StartColumn int `json:"startColumn,omitempty"`
		} `json:"region"`
	} `json:"physicalLocation"`
	Message *text `json:"message,omitempty"`
}

// artifact is a file, relative to a named directory.
type artifact struct {
	URI  string `json:"uri,omitempty"`
	Base string `json:"uriBaseId"`
}

type suppression struct {
	Kind          string `json:"kind"`
	Status        string `json:"status"`
	Justification string `json:"justification,omitempty"`
}

type properties map[string]any
