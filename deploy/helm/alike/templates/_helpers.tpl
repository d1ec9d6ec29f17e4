{{- define "alike.name" -}}
{{- if contains "alike" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-alike{{ end }}
{{- end }}

{{- /* Labels that choose pods; never changed. */}}
{{- define "alike.selector" -}}
app.kubernetes.io/name: alike
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "alike.labels" -}}
{{ include "alike.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "alike.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- /* What chooses the samples of this release in a query. */}}
{{- define "alike.job" -}}
namespace="{{ .Release.Namespace }}",job=~"{{ include "alike.name" . }}-(stateless|collections)"
{{- end }}

{{- /* A pod; takes root, component ("stateless" or "collections") and values, those of the component. */}}
{{- define "alike.pod" -}}
metadata:
  labels:
    {{- include "alike.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  {{- with .values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ add .root.Values.drainSeconds 30 }} # the server ends within 25 s
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  {{- with .values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if or (eq .component "stateless") .values.log }}
  topologySpreadConstraints:
    {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      {{- if eq $.component "stateless" }}
      matchLabelKeys: [pod-template-hash]
      {{- end }}
      labelSelector:
        matchLabels:
          {{- include "alike.selector" $.root | nindent 10 }}
          app.kubernetes.io/component: {{ $.component }}
    {{- end }}
  {{- end }}
  containers:
    - name: alike
      image: {{ include "alike.image" .root | quote }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args:
        - serve
        - --listen=:8080
        {{- if .root.Values.tokens.secret }}
        - --tokens=/etc/alike/{{ .component }}
        {{- else }}
        - --insecure
        {{- end }}
        {{- if eq .component "collections" }}
        - --data=/data
        {{- if .values.log }}
        - {{ printf "--log=%s" .values.log | quote }}
        {{- with .values.snapshots }}
        - {{ printf "--snapshots=%s" . | quote }}
        {{- end }}
        {{- else }}
        - --durability={{ .values.durability }}
        {{- end }}
        {{- else }}
        - --stateless
        {{- end }}
      {{- with .values.extraEnv }}
      env:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        - {name: http, containerPort: 8080}
      # An index that is opened after a crash is read first: ten minutes for that.
      startupProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 2
        failureThreshold: 300
      readinessProbe:
        httpGet: {path: /readyz, port: http}
        periodSeconds: 5
        failureThreshold: 2
        timeoutSeconds: 3
      livenessProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 10
        failureThreshold: 6
        timeoutSeconds: 5
      lifecycle:
        preStop:
          sleep: {seconds: {{ .root.Values.drainSeconds }}}
      resources:
        {{- toYaml .values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      {{- if or .root.Values.tokens.secret (eq .component "collections") }}
      volumeMounts:
        {{- if .root.Values.tokens.secret }}
        - {name: tokens, mountPath: /etc/alike, readOnly: true}
        {{- end }}
        {{- if eq .component "collections" }}
        - {name: data, mountPath: /data}
        {{- end }}
      {{- end }}
  {{- if .root.Values.tokens.secret }}
  volumes:
    - name: tokens
      secret:
        secretName: {{ .root.Values.tokens.secret }}
        defaultMode: 0440
        items:
          - {key: {{ .component }}, path: {{ .component }}}
  {{- end }}
{{- end }}

{{- /* What keeps several pods going: takes root, component, kind and values. */}}
{{- define "alike.several" -}}
{{- $name := printf "%s-%s" (include "alike.name" .root) .component }}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ $name }}
  labels:
    {{- include "alike.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: {{ .kind }}, name: {{ $name }}}
  {{- with .values.autoscaling }}
  minReplicas: {{ .minReplicas }}
  maxReplicas: {{ .maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: {type: Utilization, averageUtilization: {{ .cpu }}}
  {{- with .behavior }}
  behavior:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  labels:
    {{- include "alike.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "alike.selector" .root | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- /* A Service; takes root and component. */}}
{{- define "alike.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "alike.name" .root }}-{{ .component }}
  labels:
    {{- include "alike.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  selector:
    {{- include "alike.selector" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  ports:
    - {name: http, port: 80, targetPort: http}
{{- end }}
