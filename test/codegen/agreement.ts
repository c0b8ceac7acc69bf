/** Compares two types closely: a property in only one type, or optional in only one type, is a difference. */

import type { Bytes } from '../../runtime/engine/handler.ts'

declare const absent: unique symbol
declare const anything: unique symbol
type Absent = { readonly [absent]: true }
type Anything = { readonly [anything]: true }
/**
 * The types for bytes in our code: in a component, at a handler, and at a client. For openapi-typescript all three are
 * 'the bytes'.
 */
type Binary = Uint8Array | Bytes | Blob | ReadableStream<Uint8Array>
type Simple = string | number | boolean | null | undefined

/**
 * In TypeScript a type without a property is assignable to a type in which the property is optional. Here each property
 * is required, and its optionality is part of its type.
 */
type Exact<T> = unknown extends T ? Anything : [T] extends [Binary] ? 'the bytes' : ExactPart<T>

type ExactPart<T> = T extends Simple
  ? T
  : T extends readonly (infer Item)[]
    ? Exact<Item>[]
    : { [K in keyof T]-?: object extends Pick<T, K> ? Exact<T[K]> | Absent : Exact<T[K]> }

/** True if each type is assignable to the other. */
export type Agrees<Ours, Theirs> = [Exact<Ours>] extends [Exact<Theirs>]
  ? [Exact<Theirs>] extends [Exact<Ours>]
    ? true
    : false
  : false

/** The compiler rejects an argument other than `true`. */
export type Hold<T extends true> = T

/**
 * The parameters of one kind, such as the query, as an object. For a kind without parameters openapi-typescript has
 * `undefined`.
 */
export type Parameters<T> = [T] extends [undefined] ? Record<string, never> : NonNullable<T>

/** The header names in lower case, as handlers receive them. */
export type LowerCase<T> = { [K in keyof T as K extends string ? Lowercase<K> : K]: T[K] }

/** The headers in a handler's result. */
export type Given<Result> = Result extends { headers?: infer H } ? NonNullable<H> : Record<never, never>

/**
 * Leaves out index signatures, because undeclared parts and headers are not compared: the engine drops undeclared form
 * parts, and openapi-typescript allows any header.
 */
export type Declared<T> = { [K in keyof T as string extends K ? never : K]: T[K] }

/** Leaves out the headers that the engine sets. */
export type Headers<T> = Omit<Declared<T>, EngineHeader>

type EngineHeader =
  | 'Service-Request-ID'
  | 'x-request-id'
  | 'Service-Region'
  | 'RateLimit-Policy'
  | 'RateLimit'
  | 'X-Accel-Buffering'
  | 'Deprecation'
  | 'Sunset'
  | 'Link'

/**
 * openapi-typescript marks fields for one direction, answers or requests. Its two types to drop these fields also drop
 * each field that can only be null, so this file has separate types.
 */
type Read = { readonly $read: unknown }
type Write = { readonly $write: unknown }
export type Readable<T> = Without<T, Write>
export type Writable<T> = Without<T, Read>

type Without<T, Dropped> = T extends { readonly $read: infer Inner } | { readonly $write: infer Inner }
  ? Without<Inner, Dropped>
  : T extends (infer Item)[]
    ? Without<Item, Dropped>[]
    : T extends object
      ? { [K in keyof T as IsMarked<T[K], Dropped> extends true ? never : K]: Without<T[K], Dropped> }
      : T

type IsMarked<T, Mark> = [NonNullable<T>] extends [never] ? false : [NonNullable<T>] extends [Mark] ? true : false
