import { Refusal } from '../engine/handler.ts'
import type { QueryParam } from '../engine/operation.ts'
import { decode, tryDecode } from '../engine/path-tree.ts'

/**
 * Reads the declared parameters from a raw query string, each strictly by its type: 5 is an integer, and 0x5, 5.0, ' 5'
 * and '' are not. Undeclared names are left out. Throws Refusal `invalid_parameter` with the parameter's name.
 */
export function readQuery(raw: string, params: readonly QueryParam[]): Record<string, unknown> {
  const query: Record<string, unknown> = {}
  if (raw === '' || params.length === 0) return query
  for (const pair of raw.split('&')) {
    const equals = pair.indexOf('=')
    const name = tryDecode(equals < 0 ? pair : pair.slice(0, equals))
    const param = params.find((each) => each.name === name)
    if (param) place(query, param, equals < 0 ? '' : pair.slice(equals + 1))
  }
  return query
}

function place(query: Record<string, unknown>, param: QueryParam, raw: string): void {
  const value = parse(param, decode(raw.replaceAll('+', ' '), param.name))
  const earlier = query[param.name]
  if (param.array) query[param.name] = earlier === undefined ? [value] : [...(earlier as unknown[]), value]
  else if (earlier === undefined) query[param.name] = value
  else throw new Refusal('invalid_parameter', { param: param.name, message: `${param.name} is given more than once` })
}

function parse({ name, type }: QueryParam, text: string): unknown {
  switch (type) {
    case 'string':
      return text
    case 'integer':
      if (/^-?(0|[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
      throw wrongType(name, 'a whole number')
    case 'number':
      if (/^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) && Number.isFinite(Number(text))) return Number(text)
      throw wrongType(name, 'a decimal number')
    case 'boolean':
      if (text === 'true' || text === 'false') return text === 'true'
      throw wrongType(name, 'true or false')
  }
}

function wrongType(param: string, expected: string): Refusal {
  return new Refusal('invalid_parameter', { param, message: `${param} must be ${expected}` })
}
