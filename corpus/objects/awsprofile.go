package objects

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/alike-dev/alike/internal/fault"
)

// awsFiles are the sections of the files of AWS tools, ~/.aws/config and ~/.aws/credentials,
// by their names: "NAME" for a profile, "services NAME" for addresses. The settings below
// a setting such as "s3 =" have names such as "s3.endpoint_url".
type awsFiles map[string]map[string]string

// readAWSFiles reads both files, which need not exist.
func readAWSFiles() (awsFiles, error) {
	files := awsFiles{}
	home, _ := os.UserHomeDir() // without it there are no files
	for _, file := range []struct{ variable, name string }{{"AWS_CONFIG_FILE", "config"}, {"AWS_SHARED_CREDENTIALS_FILE", "credentials"}} {
		text, err := os.ReadFile(cmp.Or(os.Getenv(file.variable), filepath.Join(home, ".aws", file.name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		files.add(text)
	}
	return files, nil
}

// add adds the sections of a file; its settings count more than those of files before it.
func (f awsFiles) add(text []byte) {
	var section map[string]string
	above := "" // the setting that lines further right belong to
	for whole := range strings.Lines(string(text)) {
		line := strings.TrimSpace(whole)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if name, ok := strings.CutPrefix(line, "["); ok {
			name, _, _ = strings.Cut(name, "]")
			name = strings.TrimPrefix(strings.Join(strings.Fields(strings.ReplaceAll(name, `"`, " ")), " "), "profile ")
			if f[name] == nil {
				f[name] = map[string]string{}
			}
			section, above = f[name], ""
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || section == nil {
			continue
		}
		for _, comment := range []string{" #", " ;", "\t#", "\t;"} {
			value, _, _ = strings.Cut(value, comment)
		}
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		if indented := whole[0] == ' ' || whole[0] == '\t'; !indented {
			above = key
		} else if above != "" && section[above] == "" {
			key = above + "." + key
		}
		section[key] = value
	}
}

// An awsProfile is a profile of the files, under the environment.
type awsProfile struct {
	name     string
	region   string
	settings map[string]string
	files    awsFiles
}

// profile returns a profile by its name, or that which is the default if the name is "".
func (f awsFiles) profile(name string) (*awsProfile, error) {
	name = cmp.Or(name, os.Getenv("AWS_PROFILE"), os.Getenv("AWS_DEFAULT_PROFILE"), "default")
	if f[name] == nil && name != "default" {
		return nil, fault.Because(fs.ErrInvalid, "there is no profile %q in ~/.aws", name)
	}
	region := cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), f[name]["region"], "us-east-1")
	return &awsProfile{name, region, f[name], f}, nil
}

// get returns a setting: that of the environment, or that of the profile.
func (p *awsProfile) get(key string) string {
	return cmp.Or(os.Getenv("AWS_"+strings.ToUpper(key)), p.settings[key])
}

// on returns a setting that is on or off.
func (p *awsProfile) on(key string) bool { return strings.EqualFold(p.get(key), "true") }

// endpoint returns the address that is set for a service, such as s3; "": that of AWS.
func (p *awsProfile) endpoint(service string) string {
	if p.on("ignore_configured_endpoint_urls") {
		return ""
	}
	services := p.files["services "+p.settings["services"]]
	return cmp.Or(os.Getenv("AWS_ENDPOINT_URL_"+strings.ToUpper(service)), os.Getenv("AWS_ENDPOINT_URL"),
		services[service+".endpoint_url"], p.settings["endpoint_url"])
}
