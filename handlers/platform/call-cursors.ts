/** The cursors of lists of calls. */
import type { CallPosition } from '../../domain/calls/store.ts'
import { type CursorShape, cursorOf as cursorAt, readCursor } from './cursors.ts'

/** The cursors' times are in microseconds. */
const shape: CursorShape = { digitsMax: 16, id: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/ }

export function cursorOf({ createdAtUs, id }: CallPosition): string {
  return cursorAt({ at: createdAtUs, id })
}

/** Returns the position after which a page begins, or null for the first page. Throws Refusal if its form is wrong. */
export function positionOf(cursor: string | undefined): CallPosition | null {
  if (cursor === undefined) return null
  const { at, id } = readCursor(cursor, shape)
  return { createdAtUs: at, id }
}
