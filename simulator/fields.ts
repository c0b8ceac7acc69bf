/** Reads request fields. Each reader refuses an invalid field with the carrier's error answer. */
import { invalid, missing, notE164, notLoopback } from './refusal.ts'

export type Fields = Readonly<Record<string, unknown>>

const textMax = 4096
const e164 = /^\+[1-9]\d{6,14}$/
const loopbackHosts = ['127.0.0.1', 'localhost', '[::1]']

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function text(fields: Fields, name: string): string {
  return textOrNull(fields, name) ?? refuse(missing(name))
}

export function textOrNull(fields: Fields, name: string): string | null {
  const value = fields[name] ?? null
  if (value === null || (typeof value === 'string' && value.length <= textMax)) return value
  throw invalid(name)
}

export function phoneNumber(fields: Fields, name: string): string {
  const number = text(fields, name)
  return e164.test(number) ? number : refuse(notE164(name))
}

export function integer(fields: Fields, name: string, limits: { usual: number; min: number; max: number }): number {
  const value = fields[name] ?? limits.usual
  const isGood = typeof value === 'number' && Number.isInteger(value) && value >= limits.min && value <= limits.max
  return isGood ? value : refuse(invalid(name))
}

export function oneOf<T extends string>(fields: Fields, name: string, values: readonly T[], usual: T): T {
  const value = fields[name] ?? usual
  return values.find((each) => each === value) ?? refuse(invalid(name))
}

/**
 * Reads a URL. Only URLs on this machine are allowed, because a simulator must not make this process connect to another
 * machine.
 */
export function loopbackUrl(fields: Fields, name: string, protocols: readonly string[]): string | null {
  const url = textOrNull(fields, name)
  if (url === null) return null
  if (!URL.canParse(url)) throw invalid(name)
  const { protocol, hostname } = new URL(url)
  return protocols.includes(protocol) && loopbackHosts.includes(hostname) ? url : refuse(notLoopback(name))
}

export type Header = { name: string; value: string }
const headersMax = 32

export function headers(fields: Fields, name: string): Header[] {
  const value = fields[name] ?? []
  if (!Array.isArray(value) || value.length > headersMax) throw invalid(name)
  return value.map((header: unknown) =>
    isFields(header) ? { name: text(header, 'name'), value: text(header, 'value') } : refuse(invalid(name)),
  )
}

function refuse(error: Error): never {
  throw error
}
