import type {
  NewSipConnection,
  SipConnection,
  SipIdentity,
  SipTransport,
} from '../../../../generated/clients/typescript/models/platform.ts'
import { useChangeTrunk, useConnectTrunk } from '../../data/sip-connections.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/field.tsx'
import { AreaField, CheckField, FieldGroup, FieldRow, Form } from '../../parts/form.tsx'
import type { FormValues } from '../../parts/form-values.ts'

type ConnectionDialogProps = { connection?: SipConnection; onClose: () => void }

export function ConnectionDialog({ connection, onClose }: ConnectionDialogProps) {
  const made = useConnectTrunk()
  const changed = useChangeTrunk(connection?.id ?? '')
  const { error, isPending } = connection ? changed : made
  return (
    <Dialog title={connection ? `Change ${connection.name}` : 'Connect a trunk'} onClose={onClose}>
      <Form
        error={error}
        submit={(values) => {
          const body = connectionOf(values)
          if (connection) changed.mutate(body, { onSuccess: onClose })
          else made.mutate(body, { onSuccess: onClose })
        }}
        actions={
          <Button type="submit" look="main" disabled={isPending}>
            {connection ? 'Save' : 'Connect'}
          </Button>
        }
      >
        <FieldRow>
          <TextField label="Name" name="name" required maxLength={100} defaultValue={connection?.name} autoFocus />
          <TextField label="Company" name="provider" maxLength={100} defaultValue={connection?.provider ?? ''} />
        </FieldRow>
        <Outbound outbound={connection?.outbound ?? null} />
        <Inbound inbound={connection?.inbound ?? null} />
      </Form>
    </Dialog>
  )
}

const kept = 'The stored password stays if the field is empty.'

const identities: readonly { value: SipIdentity; label: string }[] = [
  { value: 'from', label: 'in From' },
  { value: 'preferred', label: 'in P-Preferred-Identity' },
  { value: 'asserted', label: 'in P-Asserted-Identity' },
]

function Outbound({ outbound }: Pick<SipConnection, 'outbound'>) {
  return (
    <FieldGroup label="Calls go out" note="Without a host no call goes out.">
      <FieldRow>
        <TextField label="Host" name="host" defaultValue={outbound?.host} placeholder="sip.example.com" />
        <TextField label="Port" name="port" type="number" min={1} max={65_535} defaultValue={outbound?.port ?? 5060} />
        <SelectField
          label="Transport"
          name="transport"
          choices={[
            { value: 'udp', label: 'UDP' },
            { value: 'tcp', label: 'TCP' },
          ]}
          defaultValue={outbound?.transport ?? 'udp'}
        />
      </FieldRow>
      <FieldRow>
        <TextField label="User name" name="outUser" autoComplete="off" defaultValue={outbound?.username ?? ''} />
        <TextField
          label="Password"
          name="outPassword"
          type="password"
          autoComplete="new-password"
          {...(outbound?.hasPassword && { note: kept })}
        />
        <SelectField
          label="Number of the caller"
          name="identity"
          choices={identities}
          defaultValue={outbound?.identity ?? 'from'}
        />
      </FieldRow>
      <CheckField
        label="Register the user name at the host"
        name="register"
        defaultChecked={outbound?.register}
        note="For trunks that send calls only to a registered address."
      />
    </FieldGroup>
  )
}

function Inbound({ inbound }: Pick<SipConnection, 'inbound'>) {
  return (
    <FieldGroup label="Calls come in" note="Without an address and a login no call comes in.">
      <AreaField
        label="Addresses of the trunk"
        name="addresses"
        rows={2}
        defaultValue={inbound?.allowedAddresses.join('\n')}
        placeholder="203.0.113.0/28"
        note="A range of addresses a line."
      />
      <FieldRow>
        <TextField label="User name" name="inUser" autoComplete="off" defaultValue={inbound?.username ?? ''} />
        <TextField
          label="Password"
          name="inPassword"
          type="password"
          minLength={12}
          autoComplete="new-password"
          note={inbound?.hasPassword ? kept : 'At least 12 characters.'}
        />
      </FieldRow>
    </FieldGroup>
  )
}

function connectionOf(values: FormValues): NewSipConnection {
  const host = values.optional('host')
  const addresses = values.text('addresses').split(/\s+/)
  const allowedAddresses = addresses.filter((address) => address !== '')
  const inLogin = loginOf(values, 'in')
  return {
    name: values.text('name'),
    provider: values.optional('provider') ?? null,
    outbound:
      host === undefined
        ? null
        : {
            host,
            port: values.number('port') ?? 5060,
            transport: values.text('transport') as SipTransport,
            identity: values.text('identity') as SipIdentity,
            register: values.has('register'),
            ...loginOf(values, 'out'),
          },
    inbound: allowedAddresses.length === 0 && inLogin.username === null ? null : { allowedAddresses, ...inLogin },
  }
}

/** An empty password is left out, so that the stored password stays. Without a user name there is no login. */
function loginOf(values: FormValues, side: 'in' | 'out'): { username: string | null; password?: string } {
  const username = values.optional(`${side}User`) ?? null
  const password = values.password(`${side}Password`)
  return { username, ...(username !== null && password !== '' && { password }) }
}
