/** Compares two types so closely that a property which only one of them has, or which is optional in only one, is a difference. */

import type { Bytes } from '../../runtime/engine/handler.ts'

declare const absent: unique symbol
declare const anything: unique symbol
type Absent = { readonly [absent]: true }
type Anything = { readonly [anything]: true }
/** The bytes of a part of a form: in a component, as a handler gets them, as a client may send them. openapi-typescript says 'the bytes'. */
type Binary = Uint8Array | Bytes | Blob
type Simple = string | number | boolean | null | undefined

/** TypeScript lets a type without a property stand for one in which the property is optional. Here each property is required, and says so. */
type Exact<T> = unknown extends T ? Anything : [T] extends [Binary] ? 'the bytes' : ExactPart<T>

type ExactPart<T> = T extends Simple
  ? T
  : T extends readonly (infer Item)[]
    ? Exact<Item>[]
    : { [K in keyof T]-?: object extends Pick<T, K> ? Exact<T[K]> | Absent : Exact<T[K]> }

/** Whether each of the types is assignable to the other. */
export type Agrees<Ours, Theirs> = [Exact<Ours>] extends [Exact<Theirs>]
  ? [Exact<Theirs>] extends [Exact<Ours>]
    ? true
    : false
  : false

/** The compiler complains about an argument that is not `true`. */
export type Hold<T extends true> = T

/** openapi-typescript says of a place without parameters that it is absent. */
export type Parameters<T> = [T] extends [undefined] ? Record<string, never> : NonNullable<T>

/** Handlers get the names of headers in lower case. */
export type LowerCase<T> = { [K in keyof T as K extends string ? Lowercase<K> : K]: T[K] }

/** The headers that a handler gives with a result. */
export type Given<Result> = Result extends { headers?: infer H } ? NonNullable<H> : Record<never, never>

/** Without an index signature: the engine drops parts of a form that are not declared, and openapi-typescript allows any header. */
export type Declared<T> = { [K in keyof T as string extends K ? never : K]: T[K] }

/** Without the headers that the engine writes. */
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
 * The marks of openapi-typescript at fields of one direction, and its two types that drop such fields. Its own drop each field that can
 * only be null as well.
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
