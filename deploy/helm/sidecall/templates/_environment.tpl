{{- /* A value as text: YAML's large whole numbers would else be written as 4.194304e+06. */}}
{{- define "sidecall.text" -}}
{{- if kindIs "float64" . }}{{ toJson . | quote }}{{ else }}{{ . | toString | quote }}{{ end }}
{{- end }}

{{- /* Variables that the values say; names stand once, as server-side apply wants it. */}}
{{- define "sidecall.environment" -}}
- name: SIDECALL_DRAIN_GRACE
  value: {{ include "sidecall.text" .Values.drain.grace }}
- name: SIDECALL_DRAIN_TIMEOUT
  value: {{ include "sidecall.text" .Values.drain.timeout }}
- name: SIDECALL_WORKERS
  value: {{ include "sidecall.text" .Values.workers }}
- name: SIDECALL_METRICS
  value: {{ .Values.metrics.access | quote }}
- name: SIDECALL_WORKSPACE_DIR
  value: /var/lib/sidecall/workspaces
{{- if has "none" .Values.auth.methods }}
- name: SIDECALL_ALLOW_UNAUTHENTICATED
  value: "true"
{{- else }}
- name: SIDECALL_AUTH
  value: {{ join "," .Values.auth.methods | quote }}
{{- end }}
{{- if has "api_key" .Values.auth.methods }}
- name: SIDECALL_KEYS_FILE
  value: /srv/keys/keys.jsonl
{{- end }}
{{- with include "sidecall.hosts" . }}
- name: SIDECALL_HOSTS
  value: {{ . | quote }}
{{- end }}
{{- with .Values.tools.places }}
- name: SIDECALL_TOOLS
  value: {{ join "," . | quote }}
{{- end }}
{{- with .Values.toolkits }}
- name: SIDECALL_TOOLKITS
  value: {{ join "," . | quote }}
{{- end }}
{{- include "sidecall.fleetEnvironment" . }}
{{- with .Values.fleet.placement }}
- name: SIDECALL_PLACEMENT
  value: {{ join "," . | quote }}
{{- end }}
- name: SIDECALL_STORE
{{- if eq .Values.store.type "postgresql" }}
  valueFrom:
    secretKeyRef:
      name: {{ .Values.store.postgresql.secret }}
      key: {{ .Values.store.postgresql.key }}
{{- else if eq .Values.store.type "sqlite" }}
  value: sqlite:////var/lib/sidecall/store/ledger.db
{{- else }}
  value: memory://
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ include "sidecall.text" $value }}
{{- end }}
{{- with .Values.env }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "sidecall.fleetEnvironment" -}}
{{- if .Values.fleet.bus }}
- name: SIDECALL_FLEET
  value: {{ .Values.fleet.bus | quote }}
- name: SIDECALL_FLEET_KEY
  valueFrom:
    secretKeyRef:
      name: {{ .Values.fleet.keySecret }}
      key: {{ .Values.fleet.keySecretKey }}
{{- end }}
{{- end }}

{{- define "sidecall.mounts" -}}
- name: tmp
  mountPath: /tmp
- name: workspaces
  mountPath: /var/lib/sidecall/workspaces
{{- if has "api_key" .Values.auth.methods }}
- name: keys
  mountPath: /srv/keys
  readOnly: true
{{- end }}
{{- if include "sidecall.toolsConfigMap" . }}
- name: tools
  mountPath: /srv/tools
  readOnly: true
{{- end }}
{{- if eq .Values.store.type "sqlite" }}
- name: store
  mountPath: /var/lib/sidecall/store
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "sidecall.volumes" -}}
- name: tmp
  emptyDir: {}
- name: workspaces
{{- if .Values.workspaces.existingClaim }}
  persistentVolumeClaim:
    claimName: {{ .Values.workspaces.existingClaim }}
{{- else }}
  emptyDir:
    sizeLimit: {{ .Values.workspaces.size }}
{{- end }}
{{- if has "api_key" .Values.auth.methods }}
- name: keys
  secret:
    secretName: {{ include "sidecall.keysSecret" . }}
{{- end }}
{{- with include "sidecall.toolsConfigMap" . }}
- name: tools
  configMap:
    name: {{ . }}
{{- end }}
{{- if eq .Values.store.type "sqlite" }}
- name: store
  persistentVolumeClaim:
    claimName: {{ default (include "sidecall.fullname" .) .Values.store.sqlite.existingClaim }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
