const surrogatePair = /[\ud800-\udbff][\udc00-\udfff]/g

/** Counts code points, for limits and billing. An emoji is one character and not two. */
export function charactersOf(text: string): number {
  return text.length - (text.match(surrogatePair)?.length ?? 0)
}
