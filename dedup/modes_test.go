package dedup

// bySimilarity changes what a configuration says of similarity.
func bySimilarity(c *Config, change func(s *Similarity)) {
	s, _ := c.Decide.(Similarity)
	change(&s)
	c.Decide = s
}

// ofShingles changes what a configuration says of shingles.
func ofShingles(c *Config, change func(s *OfShingles)) {
	s, _ := c.Signatures.(OfShingles)
	change(&s)
	c.Signatures = s
}

// onePerCluster changes what a configuration keeps of clusters.
func onePerCluster(c *Config, change func(s *OnePerCluster)) {
	s, _ := c.Survivors.(OnePerCluster)
	change(&s)
	c.Survivors = s
}
