/** Makes the pattern for an announcement at the end of a text: one of the words, and up to five linking words. */
export function announcing(words: string, links: string): RegExp {
  return new RegExp(`(?<!\\p{L})(?:${words})(?: (?:${links})){0,5}$`, 'u')
}
