/** Cursors for lists ordered by time and id. A cursor is opaque to clients, and names a page's last entry. */
import { Refusal } from '../../runtime/engine/handler.ts'

/** A list's position. `at` is a time in the list's unit. */
export type CursorPosition = { at: number; id: string }

/**
 * The form of one list's cursors. A time with more digits is after the year 2286, and the database may not support it.
 */
export type CursorShape = { digitsMax: 13 | 16; id: RegExp }

export function cursorOf({ at, id }: CursorPosition): string {
  return Buffer.from(`${at}.${id}`).toString('base64url')
}

/** Reads a cursor. Throws Refusal if its form is wrong. */
export function readCursor(cursor: string, { digitsMax, id: ids }: CursorShape): CursorPosition {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const [, digits, id] = /^(\d+)\.(.+)$/.exec(text) ?? []
  if (digits === undefined || digits.length > digitsMax || id === undefined || !ids.test(id))
    throw new Refusal('invalid_parameter', {
      param: 'cursor',
      message: 'cursor is not one that a page had',
      keyword: 'format',
    })
  return { at: Number(digits), id }
}
