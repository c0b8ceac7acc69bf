/** Tests the URLs at which a carrier reaches a server with several nodes. */
import t from 'tap'
import { addressesFor } from '../../app/addresses.ts'

const local = 'http://127.0.0.1:8080'
const localUrl = () => local

t.test(
  "the carrier's webhooks go to the public URL, and a call's audio to the URL of the server that runs the call",
  (t) => {
    const config = { publicUrl: 'https://voice.example.com/', nodeUrl: 'https://node-1.example.com/' }
    t.same(addressesFor('carrier', { config, localUrl }), {
      webhooks: 'https://voice.example.com/carrier/carrier/webhooks',
      sockets: 'wss://node-1.example.com',
    })
    t.same(
      addressesFor('carrier', { config: { ...config, nodeUrl: null }, localUrl }).sockets,
      'wss://voice.example.com',
    )
    t.same(addressesFor('simulator', { config, localUrl }), {
      webhooks: `${local}/carrier/simulator/webhooks`,
      sockets: 'ws://127.0.0.1:8080',
    })
    t.end()
  },
)
