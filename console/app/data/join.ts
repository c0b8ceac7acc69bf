/** A person's seat in a live call: the connection over which the person listens or speaks. */
import { startSession, type TalkSession } from '../../session/session-client.js'
import { platform } from './clients.ts'

export type Seat = Pick<TalkSession, 'mute' | 'hangUp'>

type SeatOptions = {
  displayName: string
  /** Without the microphone the person only listens, and the agent goes on. */
  speaks: boolean
  level: (level: number) => void
  /** Called if the connection to the call ends. */
  over: (why: string) => void
}

/** Connects a person to the call. Must be called in a click, because browsers allow sound only then. */
export async function joinCall(id: string, { displayName, speaks, level, over }: SeatOptions): Promise<Seat> {
  const { body } = await platform.webJoinCall({ path: { id }, body: { displayName } })
  return new Promise((resolve, reject) => {
    let isOpen = false
    const seat = startSession({
      transportUrl: body.url,
      transportToken: body.token,
      microphone: speaks,
      on: {
        level,
        ready() {
          isOpen = true
          resolve(seat)
        },
        over({ error }) {
          const why = error === null ? 'You are no longer in the call.' : String(error.message)
          if (isOpen) over(why)
          else reject(new Error(why))
        },
      },
    })
    seat.catch(reject)
  })
}
