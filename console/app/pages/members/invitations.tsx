import { useQuery } from '@tanstack/react-query'
import type { Invitation, Role, SentInvitation } from '../../../../generated/clients/typescript/models/platform.ts'
import { useMay } from '../../data/may.ts'
import { invitationsQuery, roles, useDeleteInvitation, useInvite, useResendInvitation } from '../../data/members.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { SelectField, TextField } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { Faint, Line, Stack } from '../../parts/layout.tsx'
import { Moment } from '../../parts/moment.tsx'
import { ActionFault } from '../../parts/notice.tsx'
import { Once } from '../../parts/once.tsx'
import { Private } from '../../parts/redaction.tsx'
import { Answer } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'

/** Shows nothing if the person may not read invitations. */
export const Invitations = () => (useMay('listInvitations') ? <OpenInvitations /> : null)

/** Lists open invitations. A new link replaces the earlier link. */
function OpenInvitations() {
  const invitations = useQuery(invitationsQuery)
  const resend = useResendInvitation()
  const remove = useDeleteInvitation()
  const actions: Column<Invitation> = {
    name: 'Actions',
    cell: ({ id, email }) => (
      <Line>
        <Button isSmall aria-label={`New link for ${email}`} onClick={() => resend.mutate(id)}>
          New link
        </Button>
        <Button isSmall look="alarm" aria-label={`Delete the invitation of ${email}`} onClick={() => remove.mutate(id)}>
          Delete
        </Button>
      </Line>
    ),
  }
  return (
    <Stack>
      <h2>Invitations</h2>
      {resend.data && <Sent invitation={resend.data} />}
      <ActionFault error={resend.error ?? remove.error} />
      <Answer of={invitations} rows={2}>
        {(rows) =>
          rows.length === 0 ? (
            <Faint>No invitation is open.</Faint>
          ) : (
            <Table label="Invitations" columns={[...columns, actions]} rows={rows} keyOf={({ id }) => id} />
          )
        }
      </Answer>
    </Stack>
  )
}

const columns: readonly Column<Invitation>[] = [
  {
    name: 'E-mail',
    cell: ({ email }) => (
      <strong>
        <Private>{email}</Private>
      </strong>
    ),
  },
  { name: 'Name', cell: ({ name }) => name && <Private>{name}</Private> },
  { name: 'Role', cell: ({ role }) => role },
  { name: 'Mail', cell: ({ sentAt }) => (sentAt === null ? 'not sent' : <Moment at={sentAt} />) },
  { name: 'Ends', cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
]

/** Always shows the link, because a mail can be late, or the server sends no mail. */
function Sent({ invitation: { email, url, sent, sendError } }: { invitation: SentInvitation }) {
  const mail = sent ? 'The mail is on its way.' : (sendError ?? 'No mail was sent.')
  return (
    <Once
      title={`The invitation of ${email}`}
      text={url}
      label="Copy the link"
      note={`${mail} The link works once, for seven days, and is not shown again.`}
    />
  )
}

const mayDo: Record<Role, string> = {
  viewer: 'viewer: reads calls, agents and usage',
  member: 'member: also writes agents and starts calls',
  admin: 'admin: also keys, numbers, members and secrets',
  owner: 'owner: also owners and money',
}

export function InviteDialog({ onClose }: { onClose: () => void }) {
  const invite = useInvite()
  return (
    <Dialog title="Invite a person" onClose={onClose}>
      {invite.data ? (
        <Sent invitation={invite.data} />
      ) : (
        <Form
          error={invite.error}
          submit={(values) => invite.mutate({ email: values.text('email'), role: values.text('role') as Role })}
          actions={
            <Button type="submit" look="main" disabled={invite.isPending}>
              Invite
            </Button>
          }
        >
          <TextField label="E-mail" name="email" type="email" required maxLength={254} placeholder="sam@example.com" />
          <SelectField label="Role" name="role" choices={roles.map((role) => ({ value: role, label: mayDo[role] }))} />
        </Form>
      )}
    </Dialog>
  )
}
