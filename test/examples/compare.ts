/**
 * Compares a response with an example in the contract. A client written after the example must be able to read the
 * response, so both must have the same fields, JSON types, nulls, constants and id forms. An example cannot predict
 * figures, ids, times and free text, so these may differ.
 */

/** The names of fields with free text, which may differ. Any other string must be equal. */
const texts = new Set(['text', 'delta', 'transcript', 'word', 'content', 'audio'])

/** Returns one line per difference. The field's name decides whether its string may differ. */
export function differences(example: unknown, answer: unknown, at = ''): string[] {
  const kinds = [kindOf(example), kindOf(answer)]
  if (kinds[0] !== kinds[1]) return [`${at}: ${kinds[0]} in the example, ${kinds[1]} in the answer`]
  if (Array.isArray(example)) return differencesOfLists(example, answer as unknown[], at)
  if (kinds[0] === 'object') return differencesOfObjects(example as Fields, answer as Fields, at)
  if (kinds[0] === 'number' || texts.has(fieldOf(at))) return []
  const forms = [formOf(example), formOf(answer)]
  return forms[0] === forms[1] ? [] : [`${at}: ${forms[0]} in the example, ${forms[1]} in the answer`]
}

type Fields = Record<string, unknown>

function differencesOfObjects(example: Fields, answer: Fields, at: string): string[] {
  const onlyExample = Object.keys(example).filter((key) => !Object.hasOwn(answer, key))
  const onlyAnswer = Object.keys(answer).filter((key) => !Object.hasOwn(example, key))
  const shared = Object.keys(example).filter((key) => Object.hasOwn(answer, key))
  return [
    ...onlyExample.map((key) => `${at}/${key}: only in the example`),
    ...onlyAnswer.map((key) => `${at}/${key}: only in the answer`),
    ...shared.flatMap((key) => differences(example[key], answer[key], `${at}/${key}`)),
  ]
}

/** Compares two lists. The lengths may differ, but each element must have a similar element in the other list. */
function differencesOfLists(example: unknown[], answer: unknown[], at: string): string[] {
  return [
    ...answer.flatMap((each, index) => least(example, (other) => differences(other, each, `${at}/${index}`), at)),
    ...unmatched(example, answer, at),
  ]
}

/** Returns differences for the example's elements without a similar element in the answer. */
export function unmatched(example: unknown[], answer: unknown[], at = ''): string[] {
  return example.flatMap((each, index) => least(answer, (other) => differences(each, other, `${at}/${index}`), at))
}

/** Returns the differences to the most similar element. */
function least(others: unknown[], compare: (other: unknown) => string[], at: string): string[] {
  if (others.length === 0) return [`${at}: one of the lists is empty`]
  return others.map(compare).reduce((best, next) => (next.length < best.length ? next : best))
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'list' : typeof value
}

const fieldOf = (at: string) => at.split('/').findLast((part) => !/^\d+$/.test(part)) ?? ''

/** Returns the form of a string: each part that differs between requests is a star. */
export function formOf(value: unknown): string {
  return String(value)
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>')
    .replaceAll(/v1\.[\w-]+\.[\w-]+/g, 'v1.*.*')
    .replaceAll(/^(event|item|utt)_\d+$/g, '$1_*')
    .replaceAll(/expires=\d+&signature=[\w-]{43}/g, 'expires=*&signature=*')
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+\/console\/(\w+)#[\w-]{43}/g, 'http://*/console/$1#*')
    .replaceAll(/sha256:[0-9a-f]{64}/g, 'sha256:*')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
    .replaceAll(/\d{4}-\d\d-\d\d/g, '<date>')
    .replaceAll(/(sk_(?:live|test)_)[0-9A-Za-z]{8}_[0-9A-Za-z]{43}/g, '$1*_*')
    .replaceAll(/(sk_(?:live|test)_)[0-9A-Za-z]{8}(?![0-9A-Za-z])/g, '$1*')
    .replaceAll(/([a-z]+[_-])[A-Za-z0-9]{20,}(?![A-Za-z0-9])/g, '$1*')
}
