/** Which of an answer's media types the client would rather have. RFC 9110, 12.5.1, without media type parameters. */

/** The type of the highest weight; where several have it, the first of `types`. Also the first where the client takes none: an answer of another type still says more than 406. */
export function preferredType<Type extends string>(accept: string, types: readonly [Type, ...Type[]]): Type {
  const ranges = accept.split(',').map(readRange)
  const weightOf = (type: string) => {
    const wildcard = `${type.slice(0, type.indexOf('/'))}/*`
    const own = [type, wildcard, '*/*'].map((name) => ranges.find((range) => range.name === name))
    return own.find((range) => range !== undefined)?.weight ?? 0
  }
  return types.reduce((best, type) => (weightOf(type) > weightOf(best) ? type : best))
}

function readRange(text: string): { name: string; weight: number } {
  const [name = '', ...parameters] = text.split(';').map((piece) => piece.trim().toLowerCase())
  const q = parameters.find((parameter) => parameter.startsWith('q='))
  const weight = q === undefined ? 1 : Number(q.slice(2))
  return { name, weight: weight >= 0 && weight <= 1 ? weight : 0 }
}
