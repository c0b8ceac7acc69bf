import { useQuery } from '@tanstack/react-query'
import { UserPlus } from 'lucide-react'
import { useState } from 'react'
import type { Member, Role } from '../../../../generated/clients/typescript/models/platform.ts'
import { membersQuery, roles, useChangeRole, useRemoveMember } from '../../data/members.ts'
import { useSession } from '../../data/session.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { SelectField } from '../../parts/field.tsx'
import { ConfirmDialog, Form } from '../../parts/form.tsx'
import { Line, Stack } from '../../parts/layout.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Page } from '../../parts/page.tsx'
import { useMask } from '../../parts/redaction.tsx'
import { RoleButton, RoleNote } from '../../parts/role.tsx'
import { Answer } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Invitations, InviteDialog } from './invitations.tsx'

type Open = { kind: 'invite' } | { kind: 'role' | 'remove'; member: Member }

/** Lists the organization's people with their roles, and open invitations. */
export function MembersPage() {
  const members = useQuery(membersQuery)
  const { user } = useSession()
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  return (
    <Page
      title="Members"
      lead="The people who may sign in, and what each of them may do."
      actions={
        <RoleButton needs="createInvitation" look="main" onClick={() => setOpen({ kind: 'invite' })}>
          <UserPlus aria-hidden="true" />
          Invite a person
        </RoleButton>
      }
      command={{ path: '/v1/members', cli: 'users list --org NAME' }}
    >
      <Stack>
        <RoleNote needs="updateMember" action="Inviting people and changing roles" />
        <Answer of={members}>
          {(rows) => (
            <Table
              label="Members"
              columns={[...columnsFor(user.id), actions(setOpen)]}
              rows={rows}
              keyOf={({ userId }) => userId}
            />
          )}
        </Answer>
        <Invitations />
      </Stack>
      {open?.kind === 'invite' && <InviteDialog onClose={close} />}
      {open?.kind === 'role' && <RoleDialog member={open.member} onClose={close} />}
      {open?.kind === 'remove' && <RemoveDialog member={open.member} onClose={close} />}
    </Page>
  )
}

const nameOf = ({ name, email, userId }: Member) => name ?? email ?? userId

function Name({ member, isYou }: { member: Member; isYou: boolean }) {
  const mask = useMask()
  return (
    <Line>
      <strong>{mask(nameOf(member))}</strong>
      {isYou && <Badge tone="accent">you</Badge>}
    </Line>
  )
}

function Email({ email }: { email: string | null }) {
  const mask = useMask()
  return email === null ? 'hidden' : mask(email)
}

const columnsFor = (ownId: string): readonly Column<Member>[] => [
  { name: 'Name', cell: (member) => <Name member={member} isYou={member.userId === ownId} /> },
  { name: 'E-mail', cell: ({ email }) => <Email email={email} /> },
  { name: 'Role', cell: ({ role }) => role },
  { name: 'Signs in by', cell: ({ methods }) => methods.join(', '), isExtra: true },
  { name: 'Last seen', cell: ({ lastSeenAt }) => (lastSeenAt === null ? 'never' : <Moment at={lastSeenAt} />) },
]

const actions = (open: (what: Open) => void): Column<Member> => ({
  name: 'Actions',
  cell: (member) => (
    <Line>
      <RoleButton
        needs="updateMember"
        isSmall
        aria-label={`Role of ${nameOf(member)}`}
        onClick={() => open({ kind: 'role', member })}
      >
        Role
      </RoleButton>
      <RoleButton
        needs="removeMember"
        isSmall
        look="alarm"
        aria-label={`Remove ${nameOf(member)}`}
        onClick={() => open({ kind: 'remove', member })}
      >
        Remove
      </RoleButton>
    </Line>
  ),
})

type MemberDialogProps = { member: Member; onClose: () => void }

function RoleDialog({ member, onClose }: MemberDialogProps) {
  const change = useChangeRole(member.userId)
  return (
    <Dialog title={`Role of ${nameOf(member)}`} onClose={onClose}>
      <Form
        error={change.error}
        submit={(values) => change.mutate(values.text('role') as Role, { onSuccess: onClose })}
        actions={
          <Button type="submit" look="main" disabled={change.isPending}>
            Change the role
          </Button>
        }
      >
        <SelectField
          label="Role"
          name="role"
          defaultValue={member.role}
          choices={roles.map((role) => ({ value: role, label: role }))}
        />
      </Form>
    </Dialog>
  )
}

function RemoveDialog({ member, onClose }: MemberDialogProps) {
  const remove = useRemoveMember(member.userId)
  return (
    <ConfirmDialog
      title={`Remove ${nameOf(member)}`}
      action="Remove the person"
      isPending={remove.isPending}
      error={remove.error}
      run={() => remove.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>The sessions and tokens of this person end at once. What the person has made stays.</p>
    </ConfirmDialog>
  )
}
