package report

import "fmt"

// UseColor decides whether to use colours. mode is the value of --color: always, never, or auto (or empty). With auto, a NO_COLOR that is not empty
// means no; else a CLICOLOR_FORCE that is neither empty nor 0 means yes; else TERM=dumb means no; else it is yes on a terminal. See no-color.org and
// bixense.com/clicolors. Any other mode is an error that names the valid ones.
func UseColor(mode string, isTerminal bool, getenv func(string) string) (bool, error) {
	switch mode {
	case "always":
		return true, nil
	case "never":
		return false, nil
	case "auto", "":
	default:
		return false, fmt.Errorf("unknown color mode %q: valid modes are auto, always, never", mode)
	}
	if getenv("NO_COLOR") != "" {
		return false, nil
	}
	if force := getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true, nil
	}
	if getenv("TERM") == "dumb" {
		return false, nil
	}
	return isTerminal, nil
}
