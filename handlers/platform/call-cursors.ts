/** The cursors of lists of calls. */
import type { CallPosition, CallSort, OverviewPosition } from '../../domain/calls/store.ts'
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

/**
 * Returns the amount to add to the sort value in a cursor. A call without a value, such as an unknown cost, has the
 * sort value -1, but a cursor allows only digits. So all values except times are stored one higher.
 */
const shift = (sort: CallSort) => (sort === 'created_at' ? 0 : 1)

export function overviewCursorOf({ at, id }: OverviewPosition, sort: CallSort): string {
  return cursorAt({ at: at + shift(sort), id })
}

export function overviewPositionOf(cursor: string | undefined, sort: CallSort): OverviewPosition | null {
  if (cursor === undefined) return null
  const { at, id } = readCursor(cursor, shape)
  return { at: at - shift(sort), id }
}
