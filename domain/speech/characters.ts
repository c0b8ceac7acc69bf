const surrogatePair = /[\ud800-\udbff][\udc00-\udfff]/g

/** Code points: the characters that are counted and billed, as a reader counts them: an emoji is one and not two. */
export function charactersOf(text: string): number {
  return text.length - (text.match(surrogatePair)?.length ?? 0)
}
