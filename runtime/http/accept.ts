/** Chooses the media type that the client prefers. RFC 9110, 12.5.1, without media type parameters. */

/**
 * Returns the type with the highest weight. Among equals, and if the client accepts no type, the first type wins,
 * because a response in another type is more useful than a 406.
 */
export function preferredType<Type extends string>(accept: string, types: readonly [Type, ...Type[]]): Type {
  const ranges = accept.split(',').map(readRange)
  const weightOf = (type: string) => {
    const wildcard = `${type.slice(0, type.indexOf('/'))}/*`
    const matches = [type, wildcard, '*/*'].map((name) => ranges.find((range) => range.name === name))
    return matches.find((range) => range !== undefined)?.weight ?? 0
  }
  return types.reduce((best, type) => (weightOf(type) > weightOf(best) ? type : best))
}

function readRange(text: string): { name: string; weight: number } {
  const [name = '', ...parameters] = text.split(';').map((piece) => piece.trim().toLowerCase())
  const q = parameters.find((parameter) => parameter.startsWith('q='))
  const weight = q === undefined ? 1 : Number(q.slice(2))
  return { name, weight: weight >= 0 && weight <= 1 ? weight : 0 }
}
