{{- define "sidecall.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "sidecall.fullname" -}}
{{- $name := include "sidecall.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "sidecall.selectorLabels" -}}
app.kubernetes.io/name: {{ include "sidecall.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "sidecall.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "sidecall.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "sidecall.image" -}}
{{- if .Values.image.digest }}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{- define "sidecall.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "sidecall.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "sidecall.keysSecret" -}}
{{- default (printf "%s-keys" (include "sidecall.fullname" .)) .Values.auth.keysSecret }}
{{- end }}

{{- define "sidecall.toolsConfigMap" -}}
{{- if .Values.tools.files }}
{{- printf "%s-tools" (include "sidecall.fullname" .) }}
{{- else }}
{{- .Values.tools.configMap }}
{{- end }}
{{- end }}

{{- /* Names by which it is called; Kubernetes' short form might be a domain, which matters only where no key is asked for. */}}
{{- define "sidecall.hosts" -}}
{{- $hosts := concat .Values.hosts (ternary .Values.ingress.hosts list .Values.ingress.enabled) }}
{{- if not (has "none" .Values.auth.methods) }}
{{- $hosts = append $hosts (printf "%s.%s" (include "sidecall.fullname" .) .Release.Namespace) }}
{{- end }}
{{- join "," $hosts }}
{{- end }}

{{- /* Stop where the values contradict each other. */}}
{{- define "sidecall.check" -}}
{{- $many := or .Values.autoscaling.enabled (gt (int .Values.replicas) 1) }}
{{- if and $many (ne .Values.store.type "postgresql") }}
{{- fail "several replicas share what they remember only in a database: set store.type=postgresql, or replicas=1 without autoscaling" }}
{{- end }}
{{- if and (eq .Values.store.type "postgresql") (not .Values.store.postgresql.secret) }}
{{- fail "store.type=postgresql takes store.postgresql.secret, the Secret with the address of the database" }}
{{- end }}
{{- if and (has "none" .Values.auth.methods) (gt (len .Values.auth.methods) 1) }}
{{- fail "auth.methods is [none], or has no none in it" }}
{{- end }}
{{- if and .Values.auth.keys .Values.auth.keysSecret }}
{{- fail "set auth.keys or auth.keysSecret, not both" }}
{{- end }}
{{- if and .Values.fleet.workers (not .Values.fleet.bus) }}
{{- fail "fleet.workers take fleet.bus, the address of the NATS that they share with the servers" }}
{{- end }}
{{- if and .Values.fleet.bus (not .Values.fleet.keySecret) }}
{{- fail "fleet.bus takes fleet.keySecret, the Secret with what encrypts all that crosses it" }}
{{- end }}
{{- if and .Values.tools.files .Values.tools.configMap }}
{{- fail "set tools.files or tools.configMap, not both" }}
{{- end }}
{{- $runs := or (has "shell" .Values.toolkits) (and (has "python" .Values.toolkits) (eq (get .Values.settings "SIDECALL_PYTHON") "cpython")) }}
{{- if and $runs (not .Values.sandbox.enabled) }}
{{- fail "these toolkits run programs of models: set sandbox.enabled=true, as docs/deploy.md says" }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) }}
{{- fail "ingress.enabled takes ingress.hosts" }}
{{- end }}
{{- if .Values.metrics.serviceMonitor.enabled }}
{{- if eq .Values.metrics.access "off" }}
{{- fail "metrics.serviceMonitor asks for what metrics.access=off leaves out" }}
{{- end }}
{{- $needsKey := and (eq .Values.metrics.access "on") (not (has "none" .Values.auth.methods)) }}
{{- if and $needsKey (not .Values.metrics.serviceMonitor.keySecret) }}
{{- fail "metrics.serviceMonitor takes keySecret, a Secret with a key that has the scope server:operate; or set metrics.access=open" }}
{{- end }}
{{- end }}
{{- range $name, $_ := .Values.settings }}
{{- if not (hasPrefix "SIDECALL_" $name) }}
{{- fail (printf "settings have names that begin with SIDECALL_: %s belongs into env" $name) }}
{{- end }}
{{- end }}
{{- $taken := splitList " " "HOST PORT DRAIN_GRACE DRAIN_TIMEOUT WORKERS METRICS WORKSPACE_DIR ALLOW_UNAUTHENTICATED AUTH KEYS_FILE HOSTS TOOLS TOOLKITS STORE FLEET FLEET_KEY PLACEMENT" }}
{{- $names := keys .Values.settings }}
{{- range .Values.env }}
{{- $names = append $names .name }}
{{- end }}
{{- range $names }}
{{- if and (hasPrefix "SIDECALL_" .) (has (trimPrefix "SIDECALL_" .) $taken) }}
{{- fail (printf "%s is set by another value of the chart, or by the image" .) }}
{{- end }}
{{- end }}
{{- if ne (len $names) (len (uniq $names)) }}
{{- fail "a variable stands twice in settings and env" }}
{{- end }}
{{- end }}
