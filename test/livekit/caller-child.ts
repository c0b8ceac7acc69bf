/** A caller joins a room and stays until the process is killed: `caller-child.ts URL TOKEN`. */
import { Room, RoomEvent } from '@livekit/rtc-node'

const [url = '', token = ''] = process.argv.slice(2)
const room = new Room()
room.on(RoomEvent.DataReceived, (bytes) => process.stdout.write(`${Buffer.from(bytes).toString()}\n`))
await room.connect(url, token, { autoSubscribe: true, dynacast: false })
setInterval(() => {}, 1000)
